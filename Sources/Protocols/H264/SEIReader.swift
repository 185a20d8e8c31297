/// Reads the sei_message()s of a NAL unit (clause 7.3.2.3.1) one after the other, emulation
/// prevention left out. Allocates nothing.
struct SEIReader {
    /// Messages looked at in one NAL unit.
    static let maximumMessageCount = 16
    /// Of one that is read; a report of OBS has 71 bytes, a time of it 140.
    static let maximumSize = 512

    /// Behind what has been read of the message.
    private(set) var bits: RBSPReader
    /// Of the message.
    private var bytesLeft = 0

    /// - Parameter unit: of type 6, header included.
    init(_ unit: UnsafeRawBufferPointer) { bits = unsafe RBSPReader(unit) }

    /// Steps over what is left of a message.
    /// - Returns: the type of the next one.
    mutating func nextMessage() throws(H264Error) -> Int {
        try bits.skipBits(8 * bytesLeft)
        let type = try readVariable()
        bytesLeft = try readVariable()
        guard bytesLeft <= Self.maximumSize else { throw .tooLong }
        return type
    }

    mutating func readByte() throws(H264Error) -> UInt8 {
        guard bytesLeft > 0 else { throw .truncated }
        bytesLeft -= 1
        return UInt8(truncatingIfNeeded: try bits.readBits(8))
    }

    /// uuid_iso_iec_11578 of a user_data_unregistered message.
    mutating func readIdentifier() throws(H264Error) -> [16 of UInt8] {
        var identifier: [16 of UInt8] = .init(repeating: 0)
        for index in 0..<16 { identifier[index] = try readByte() }
        return identifier
    }

    static func isEqual(_ left: [16 of UInt8], _ right: [16 of UInt8]) -> Bool {
        for index in 0..<16 where left[index] != right[index] { return false }
        return true
    }

    /// A number as a run of 0xFF and a last byte.
    private mutating func readVariable() throws(H264Error) -> Int {
        var value = 0
        while true {
            let byte = UInt8(truncatingIfNeeded: try bits.readBits(8))
            value += Int(byte)
            if byte != 0xFF { return value }
        }
    }
}

extension SEIReader {
    /// RFC 3339 with milliseconds has 25 bytes; OBS reserves 64.
    private static let maximumTimeLength = 64

    /// A time of Broadcast Performance Metrics: type, event, and a text that ends with 0 (type 1) or 64 bits (types 2 and 3).
    /// - Parameter body: given each byte of the text.
    /// - Returns: the event.
    mutating func readTime(_ body: (UInt8) -> Void = { _ in }) throws(H264Error) -> UInt8 {
        let type = try readByte()
        let event = try readByte()
        switch type {
        case 1:
            for _ in 0..<Self.maximumTimeLength {
                let byte = try readByte()
                if byte == 0 { return event }
                body(byte)
            }
            throw .valueOutOfRange
        case 2, 3: for _ in 0..<8 { _ = try readByte() }
        default: throw .valueOutOfRange
        }
        return event
    }
}
