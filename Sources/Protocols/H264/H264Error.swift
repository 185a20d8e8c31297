/// What can be wrong with H.264 bytes from a peer.
public enum H264Error: Error, Equatable, Sendable {
    /// The bytes end inside a field.
    case truncated
    /// The NAL unit is of another type than the parser is for, or forbidden_zero_bit is set.
    case unexpectedType(UInt8)
    /// An Exp-Golomb code of more than 32 leading zeros (clause 9.1).
    case codeTooLong
    /// A syntax element outside the range that its semantics allow.
    case valueOutOfRange
    /// A NAL unit or record longer than its parser takes.
    case tooLong
    /// A length field points beyond the end of its container.
    case lengthBeyondEnd
    /// A lengthSizeMinusOne that stands for 3 bytes, or another version of the record than 1.
    case unsupportedRecord
}
