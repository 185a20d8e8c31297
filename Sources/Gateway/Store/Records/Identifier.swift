import Wire

/// Unguessable names, drawn from the system's random source (getrandom).
public enum Identifier {
    private static let alphanumerics = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")

    /// - Parameter count: characters, 5.95 bits each.
    public static func random(_ count: Int) -> String {
        var source = SystemRandomNumberGenerator()
        return String((0..<count).map { _ in alphanumerics[Int.random(in: 0..<alphanumerics.count, using: &source)] })
    }

    /// Stage, ingest configuration and participant ids: 71 bits.
    public static func resource() -> String { random(12) }

    /// `StageSessionId` of the API model: exactly 16 characters.
    public static func stageSession() -> String { "st-" + random(13) }

    /// RFC 9562 version 4.
    public static func uuid() -> String {
        var source = SystemRandomNumberGenerator()
        return String(uuid: (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &source) }, version: 4)
    }
}

/// The account and region whose resources this gateway keeps, and the names it gives them.
public struct ResourceName: Equatable, Sendable {
    public enum Kind: String, Sendable {
        case stage
        case ingestConfiguration = "ingest-configuration"
        case publicKey = "public-key"
        case storageConfiguration = "storage-configuration"
    }

    public var region: String
    /// 12 digits.
    public var account: String

    public init(region: String = "us-east-1", account: String = "000000000000") {
        (self.region, self.account) = (region, account)
    }

    /// Those that an ARN names; empty where a text is none.
    public init(ofARN arn: String) {
        let parts = arn.split(separator: ":", omittingEmptySubsequences: false)
        (region, account) = parts.count == 6 ? (String(parts[3]), String(parts[4])) : ("", "")
    }

    public func arn(_ kind: Kind, _ identifier: String) -> String {
        "arn:aws:ivs:\(region):\(account):\(kind.rawValue)/\(identifier)"
    }

    /// `rt_account_region_identifier_secret`, as the model's StreamKey pattern wants it.
    public func streamKey(identifier: String, secret: String) -> String {
        "rt_\(account)_\(region)_\(identifier)_\(secret)"
    }

    /// The text after the last slash of an ARN.
    public static func identifier(inARN arn: String) -> String {
        arn.lastIndex(of: "/").map { String(arn[arn.index(after: $0)...]) } ?? arn
    }

    /// The kind in `arn:aws:ivs:[a-z0-9-]+:[0-9]+:<kind>/[a-zA-Z0-9-]+`; nil when a text has not that form.
    public static func kind(ofARN arn: String) -> Substring? {
        let parts = arn.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 6, parts[0] == "arn", parts[1] == "aws", parts[2] == "ivs" else { return nil }
        let resource = parts[5].split(separator: "/", omittingEmptySubsequences: false)
        guard resource.count == 2, !parts[3].isEmpty, !parts[4].isEmpty, !resource[1].isEmpty else { return nil }
        let isNamed =
            parts[3].utf8.allSatisfy { isLower($0) || isDigit($0) || $0 == 0x2D } && parts[4].utf8.allSatisfy(isDigit)
            && resource[1].utf8.allSatisfy { isLower($0) || isUpper($0) || isDigit($0) || $0 == 0x2D }
        return isNamed ? resource[0] : nil
    }

    /// Whether a text is an ARN of this kind.
    public static func isARN(_ text: String, of kind: Kind) -> Bool {
        Self.kind(ofARN: text).map { $0 == kind.rawValue } ?? false
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    private static func isLower(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }
    private static func isUpper(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }
}
