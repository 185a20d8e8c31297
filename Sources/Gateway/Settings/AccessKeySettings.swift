public import Wire

/// A key of the control API, and what it may do.
public struct AccessKeySettings: Equatable, Sendable {
    /// Entries of each of its lists, at most.
    public static let maximumEntries = 100

    /// The access key id that clients send.
    public var id = ""
    /// The secret access key.
    public var secret = Secret("")
    /// May Get and List only, whatever `allow` says.
    public var readOnly = false
    /// What it may do.
    public var allow = [ActionPattern.any]
    /// What it may not do, whatever `allow` says.
    public var deny: [ActionPattern] = []
    /// The stages that it may do it on; what concerns no single stage needs `*`.
    public var resources = [StagePattern.any]

    public var lengthOfLongestList: Int { max(allow.count, deny.count, resources.count) }

    public init() {}

    public init(id: String, secret: Secret) { (self.id, self.secret) = (id, secret) }
}

/// Actions, by the names that policies call them: `ivs:GetStage`, `ivs:Get*`, `*`. Their case makes no difference.
public struct ActionPattern: Equatable, Sendable {
    public static let any = ActionPattern(wildcards: WildcardPattern("*"))

    private let wildcards: WildcardPattern

    private init(wildcards: WildcardPattern) { self.wildcards = wildcards }

    /// Nil for what is neither `*` nor a service and a name with a colon between them.
    public init?(_ text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard text == "*" || parts.count == 2 && !parts.contains(""), WildcardPattern.takes(text, beside: ":") else { return nil }
        wildcards = WildcardPattern(text)
    }

    public var text: String { wildcards.text }

    public func matches(_ action: String) -> Bool { wildcards.matches(action, ignoringCase: true) }
}

/// Stages, by their ARNs: `arn:aws:ivs:us-east-1:000000000000:stage/abcd1234ABCD`, `arn:aws:ivs:*:stage/*`, `*`.
public struct StagePattern: Equatable, Sendable {
    public static let any = StagePattern(wildcards: WildcardPattern("*"))

    private let wildcards: WildcardPattern

    private init(wildcards: WildcardPattern) { self.wildcards = wildcards }

    /// Nil for what is neither `*` nor begins like an ARN.
    public init?(_ text: String) {
        guard text == "*" || text.hasPrefix("arn:"), WildcardPattern.takes(text, beside: ":/-_") else { return nil }
        wildcards = WildcardPattern(text)
    }

    public var text: String { wildcards.text }

    /// - Parameter arn: empty for what concerns no single stage.
    public func matches(_ arn: String) -> Bool { wildcards.matches(arn, ignoringCase: false) }
}

/// A text in which `*` stands for any characters, also for none, and `?` for one.
private struct WildcardPattern: Equatable, Sendable {
    static let maximumLength = 256

    let text: String

    init(_ text: String) { self.text = text }

    /// Whether the text is short enough, and all letters, digits, wildcards and `punctuation`.
    static func takes(_ text: String, beside punctuation: String) -> Bool {
        1...maximumLength ~= text.utf8.count
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, star, questionMark: true
                default: punctuation.utf8.contains(byte)
                }
            }
    }

    /// Takes at most as many steps as pattern and text have pairs of bytes: of all stars only the last one is tried again.
    func matches(_ text: String, ignoringCase: Bool) -> Bool {
        let text = Array((ignoringCase ? text.lowercased() : text).utf8)
        let pattern = Array((ignoringCase ? self.text.lowercased() : self.text).utf8)
        var (at, next) = (0, 0)
        var retry: (pattern: Int, text: Int)?
        while at < text.count {
            if next < pattern.count, pattern[next] == Self.star {
                next += 1
                retry = (next, at)
            } else if next < pattern.count, pattern[next] == Self.questionMark || pattern[next] == text[at] {
                (at, next) = (at + 1, next + 1)
            } else if let star = retry {
                (next, at) = (star.pattern, star.text + 1)
                retry = (star.pattern, star.text + 1)
            } else {
                return false
            }
        }
        return pattern[next...].allSatisfy { $0 == Self.star }
    }

    private static let star = UInt8(ascii: "*")
    private static let questionMark = UInt8(ascii: "?")
}
