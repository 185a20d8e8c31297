import Wire

/// The extended timestamp field (RTMP 1.0 §5.3.1.3): all 32 bits of a timestamp or delta that do not fit the header's 24.
///
/// The specification has format 3 chunks repeat the field; librtmp left it out for years, and some write the message's
/// timestamp in its place. So what follows their basic header is looked at before it is taken for the field.
struct ExtendedTimestamp {
    /// The 24 bits of the header that say that the field follows.
    static let mark: UInt32 = 0xFF_FFFF
    /// How far a repeated field may be ahead of the last message to be believed a new timestamp.
    private static let maximumStep: UInt32 = 10_000

    /// As the last header of format 0, 1 or 2 had it.
    let value: UInt32

    /// What stands behind the basic header of a format 3 chunk.
    enum Repetition {
        case needsMore
        /// No field: the payload begins.
        case absent
        case field(UInt32)
    }

    /// Reads the field, if it is repeated.
    /// - Parameter timestamp: of the last message.
    /// - Parameter isExpected: four bytes will come, whether they are the field or payload.
    func repetition(
        in reader: inout ByteReader, isInsideMessage: Bool, timestamp: UInt32, isExpected: Bool
    ) -> Repetition {
        var ahead = reader
        guard let field = ahead.read(UInt32.self) else { return isExpected || isBegun(by: ahead) ? .needsMore : .absent }
        guard isRepeated(by: field, isInsideMessage, timestamp) else { return .absent }
        reader = ahead
        return .field(field)
    }

    /// Four bytes of payload that equal the field by chance are not a risk worth more state.
    private func isRepeated(by field: UInt32, _ isInsideMessage: Bool, _ timestamp: UInt32) -> Bool {
        if field == value { return true }
        return isInsideMessage ? field == timestamp : field &- timestamp <= Self.maximumStep
    }

    /// Whether what is left, fewer than four bytes, begins the field.
    private func isBegun(by rest: ByteReader) -> Bool {
        var ahead = rest
        var shift: UInt32 = 24
        while let byte = ahead.read(UInt8.self) {
            guard byte == UInt8(truncatingIfNeeded: value >> shift) else { return false }
            shift -= 8
        }
        return true
    }
}
