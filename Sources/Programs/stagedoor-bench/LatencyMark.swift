/// A time of sending inside the stream: an SEI of unregistered user data (H.264 D.1.6) at the head of an access unit.
///
/// Sender and receiver share one machine, so the monotonic clock is the same. Numbers are written in nibbles from 0x40 up: no
/// byte is 0, so nothing has to be escaped and the mark can be found in a packet by its identifier.
enum LatencyMark {
    static let identifier: [UInt8] = Array("stagedoor.mark.1".utf8)
    /// Offset of the mark in the body of an AVC video tag: behind frame type, packet type and composition time.
    static let offsetInTag = 5

    private static let numberNibbles = 16
    private static let payloadCount = identifier.count + numberNibbles
    /// Length prefix, NAL header, payload type, payload size, payload, stop bit.
    static let byteCount = 4 + 3 + payloadCount + 1
    private static let numberOffset = 4 + 3 + identifier.count

    /// The body of a video tag with room for a mark.
    static func inserted(into body: [UInt8]) -> [UInt8] {
        guard body.count > offsetInTag else { return body }
        let length = byteCount - 4
        var mark: [UInt8] = [0, 0, 0, UInt8(length), 6, 5, UInt8(payloadCount)]
        mark += identifier + [UInt8](repeating: 0x40, count: numberNibbles) + [0x80]
        return body[..<offsetInTag] + mark + body[offsetInTag...]
    }

    /// Writes the time, in nanoseconds, into a body that has room for it.
    static func stamp(_ nanoseconds: Int64, into body: inout [UInt8]) {
        guard body.count >= offsetInTag + byteCount else { return }
        write(nanoseconds, into: &body, at: offsetInTag + numberOffset)
    }

    /// Where the number stands in an RTP payload that is a mark alone; nil in any other.
    static func numberOffset(in payload: [UInt8]) -> Int? {
        let start = 3
        guard payload.count == byteCount - 4, payload[start...].starts(with: identifier) else { return nil }
        return start + identifier.count
    }

    /// Writes the number's nibbles at an offset that `numberOffset(in:)` gave.
    static func write(_ nanoseconds: Int64, into bytes: inout [UInt8], at offset: Int) {
        for index in 0..<numberNibbles {
            let nibble = UInt8(truncatingIfNeeded: nanoseconds >> Int64((numberNibbles - 1 - index) * 4)) & 0xF
            bytes[offset + index] = 0x40 | nibble
        }
    }

    /// The time in an RTP payload that begins with a mark, alone or behind parameter sets; nil when there is none.
    static func time(in payload: UnsafeRawBufferPointer) -> Int64? {
        let searched = min(payload.count - payloadCount, 256)
        guard searched > 0 else { return nil }
        for start in 0..<searched where unsafe payload[start] == identifier[0] {
            guard identifier.indices.allSatisfy({ unsafe payload[start + $0] == identifier[$0] }) else { continue }
            let nibbles = unsafe payload[(start + identifier.count)..<(start + payloadCount)]
            return unsafe nibbles.reduce(0) { $0 << 4 | Int64($1 & 0xF) }
        }
        return nil
    }
}
