/// The account and region whose resources this gateway keeps, and the names it gives them.
public struct ResourceName: Equatable, Sendable {
    public enum Kind: String, Sendable {
        case stage
        case ingestConfiguration = "ingest-configuration"
        case publicKey = "public-key"
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
