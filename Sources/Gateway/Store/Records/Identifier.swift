import OpenSSL
public import Wire

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
}

/// SHA-256 of a stream key or token: what tables, caches and logs hold in place of the credential.
public struct CredentialHash: Hashable, Sendable {
    private let bytes: [UInt8]

    public init(of credential: Secret) { bytes = Digest.sha256(credential.reveal()) }

    /// The first 64 bits in hexadecimal: enough to compare log lines.
    public var text: String { String(hexadecimal: bytes.prefix(8)) }
}
