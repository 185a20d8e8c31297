/// One word of a command: bytes, of which text and numbers are the common kinds.
public struct RedisArgument: Hashable, Sendable {
    public let bytes: [UInt8]

    public init(_ bytes: [UInt8]) { self.bytes = bytes }
    public init(_ text: some StringProtocol) { bytes = Array(text.utf8) }
    public init(_ number: some BinaryInteger) { bytes = Array("\(number)".utf8) }
}

extension RedisArgument: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral {
    public init(stringLiteral text: String) { self.init(text) }
    public init(integerLiteral number: Int) { self.init(number) }
}
