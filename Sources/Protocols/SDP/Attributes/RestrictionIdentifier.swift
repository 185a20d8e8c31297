/// `a=rid` (RFC 8851 §10): one encoding of a section.
public struct RestrictionIdentifier: TypedAttribute, Equatable {
    public enum Direction: String, Sendable { case send, recv }

    public static let attributeName = "rid"
    public var identifier: String
    public var direction: Direction
    /// `pt=…;max-width=…` as written.
    public var restrictions: String?

    public init(_ identifier: String, _ direction: Direction, restrictions: String? = nil) {
        (self.identifier, self.direction, self.restrictions) = (identifier, direction, restrictions)
    }

    public init?(attributeValue: Substring) {
        let parts = words(attributeValue, maximum: 3)
        guard parts.count >= 2, Self.isIdentifier(parts[0]), let direction = Direction(rawValue: String(parts[1])) else {
            return nil
        }
        self.init(String(parts[0]), direction, restrictions: parts.count == 3 ? String(parts[2]) : nil)
    }

    public var attributeValue: String { "\(identifier) \(direction.rawValue)" + (restrictions.map { " " + $0 } ?? "") }

    /// RFC 8852 §3.1 allows letters and digits; `-` and `_` of RFC 8851 are seen as well.
    static func isIdentifier(_ text: Substring) -> Bool {
        (1...maximumIdentifierLength).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "_"): true
                default: false
                }
            }
    }

    /// What fits a one-byte header extension (RFC 8285 §4.2).
    public static let maximumIdentifierLength = 16
}
