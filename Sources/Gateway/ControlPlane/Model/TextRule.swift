import Store

/// What the model says about one string shape: its length in characters, and the pattern that all of it must match.
struct TextRule: Sendable {
    var length: ClosedRange<Int>
    var matches: @Sendable (String) -> Bool = { _ in true }

    static let name = TextRule(length: 0...128) { $0.utf8.allSatisfy { isAlphanumeric($0) || $0 == 0x2D || $0 == 0x5F } }
    static let participantID = TextRule(length: 0...64, matches: name.matches)
    static let userID = TextRule(length: 0...128)
    static let reason = TextRule(length: 0...128)
    static let sessionID = TextRule(length: 16...16) { $0.hasPrefix("st-") && $0.utf8.dropFirst(3).allSatisfy(isAlphanumeric) }
    static let pageToken = TextRule(length: 0...1_024) { text in
        text.utf8.allSatisfy { isAlphanumeric($0) || "+/=_-".utf8.contains($0) }
    }
    static let tagKey = TextRule(length: 1...128)
    static let tagValue = TextRule(length: 0...256)
    static let any = TextRule(length: 0...Int.max)

    static func arn(_ kind: ResourceName.Kind) -> TextRule {
        TextRule(length: 1...128) { isARN($0) { $0 == kind.rawValue } }
    }
    /// `""` or a stage's ARN.
    static let stageARNOrEmpty = TextRule(length: 0...128) { $0.isEmpty || arn(.stage).matches($0) }
    static let storageARNOrEmpty = TextRule(length: 0...128) { text in
        text.isEmpty || isARN(text) { $0 == "storage-configuration" }
    }
    /// The model's own pattern allows one letter before the slash, which no ARN has.
    static let resourceARN = TextRule(length: 1...128) { text in
        isARN(text) { kind in !kind.isEmpty && kind.utf8.allSatisfy { isLower($0) || $0 == 0x2D } }
    }

    static func oneOf(_ values: String...) -> TextRule { TextRule(length: 0...Int.max) { values.contains($0) } }

    func accepts(_ text: String) -> Bool { length.contains(text.unicodeScalars.count) && matches(text) }

    /// `arn:aws:ivs:[a-z0-9-]+:[0-9]+:<kind>/[a-zA-Z0-9-]+`
    private static func isARN(_ text: String, _ isKind: (Substring) -> Bool) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0] == "arn", parts[1] == "aws", parts[2] == "ivs" else { return false }
        let resource = parts[5].split(separator: "/", omittingEmptySubsequences: false)
        guard resource.count == 2, isKind(resource[0]) else { return false }
        return !parts[3].isEmpty && parts[3].utf8.allSatisfy { isLower($0) || isDigit($0) || $0 == 0x2D }
            && !parts[4].isEmpty && parts[4].utf8.allSatisfy(isDigit)
            && !resource[1].isEmpty && resource[1].utf8.allSatisfy { isAlphanumeric($0) || $0 == 0x2D }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    private static func isLower(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }
    private static func isAlphanumeric(_ byte: UInt8) -> Bool { isDigit(byte) || isLower(byte) || (0x41...0x5A).contains(byte) }
}
