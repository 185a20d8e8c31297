/// Why a session description or fragment was refused.
public enum SDPError: Error, Equatable, Sendable {
    /// More than `SessionDescription.maximumByteCount` bytes.
    case tooLarge
    case lineTooLong(line: Int)
    case tooManyLines
    case tooManyMediaDescriptions
    /// A line that is not `<type>=<value>`, of a type RFC 8866 does not know or not at its place.
    case malformedLine(line: Int)
    /// NUL, a lone CR, invalid UTF-8, or (where CRLF is demanded) a line that ends in LF alone.
    case malformedText(line: Int)
    case unsupportedVersion
    case missingOrigin
    /// An attribute we must understand does not follow its grammar.
    case malformedAttribute(String)
}
