/// Why bytes are not the JSON text we take. Offsets count bytes from the start.
public enum JSONError: Error, Equatable, Sendable {
    /// The text ends inside a value.
    case truncated
    case unexpectedByte(UInt8, offset: Int)
    /// Bytes other than white space follow the value.
    case trailingBytes(offset: Int)
    case invalidUTF8(offset: Int)
    /// An unknown escape, or a surrogate without its other half.
    case invalidEscape(offset: Int)
    /// A number whose magnitude no `Double` holds.
    case numberOutOfRange(offset: Int)
    case duplicateName(String)
    case tooLong
    case tooDeep
    case tooManyValues
}
