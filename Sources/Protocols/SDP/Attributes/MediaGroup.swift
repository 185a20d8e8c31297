/// `a=group` (RFC 5888 §5): `BUNDLE` (RFC 9143), `LS`.
public struct MediaGroup: TypedAttribute, Equatable {
    public static let attributeName = "group"
    public var semantics: String
    public var mids: [String]

    public init(semantics: String, mids: [String]) { (self.semantics, self.mids) = (semantics, mids) }

    public init?(attributeValue: Substring) {
        let parts = words(attributeValue)
        guard let first = parts.first else { return nil }
        self.init(semantics: String(first), mids: parts.dropFirst().map(String.init))
    }

    public var attributeValue: String { ([semantics] + mids).joined(separator: " ") }
}
