/// A codec's four-character code (Enhanced RTMP v2, "Extended VideoTagHeader").
public struct FourCC: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    public var rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// From the first four bytes of `value`.
    public init(stringLiteral value: StaticString) {
        rawValue = value.withUTF8Buffer { text in text.prefix(4).reduce(0) { $0 << 8 | UInt32($1) } }
    }

    /// The four characters; what is not printable ASCII becomes `?`, so that it can stand in a log or a message.
    public var description: String {
        String(
            decoding: [24, 16, 8, 0].map { shift in
                let byte = UInt8(truncatingIfNeeded: rawValue >> shift)
                return (0x20...0x7E).contains(byte) ? byte : UInt8(ascii: "?")
            }, as: UTF8.self)
    }
}
