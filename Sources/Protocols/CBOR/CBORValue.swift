/// One CBOR data item (RFC 8949 §3).
///
/// Integers that fit 64 bits with sign; floating point of any width as `Double`. Maps keep their order; names are text.
public enum CBORValue: Equatable, Sendable {
    /// Major types 0 and 1.
    case integer(Int64)
    /// Major type 2.
    case bytes([UInt8])
    /// Major type 3.
    case text(String)
    /// Major type 4.
    case array([CBORValue])
    /// Major type 5.
    case map([Member])
    /// Major type 6.
    indirect case tagged(UInt64, CBORValue)
    /// Floating point of 16, 32 or 64 bits.
    case double(Double)
    /// `true` or `false`.
    case bool(Bool)
    /// `null`, and `undefined` as well.
    case null

    /// One pair of a map.
    public struct Member: Equatable, Sendable {
        /// Text; other keys are refused.
        public var name: String
        /// What stands beside it.
        public var value: CBORValue

        /// A pair.
        public init(_ name: String, _ value: CBORValue) { (self.name, self.value) = (name, value) }
    }

    /// Tag 1: seconds since 1970 (RFC 8949 §3.4.2).
    public static let epochTime: UInt64 = 1
}

/// Why bytes are no CBOR that is read here.
public enum CBORError: Error, Equatable, Sendable {
    /// The item goes on beyond the end.
    case truncated
    /// Bytes follow the item.
    case trailingBytes
    /// A head that RFC 8949 reserves, a simple value without meaning, or a chunk of another type.
    case malformed
    /// A text that is no UTF-8, or a key that is no text.
    case notText
    /// An integer beyond 64 bits with sign.
    case outOfRange
    /// Deeper than `CBORValue.maximumDepth`, or more items than `CBORValue.maximumItems`.
    case tooComplex
}

extension CBORValue {
    /// Arrays, maps and tags around an item, at most.
    public static let maximumDepth = 16
    /// Items of one text, at most.
    public static let maximumItems = 50_000
}
