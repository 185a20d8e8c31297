import EventLoop
import Wire

/// Takes the RTP and RTCP of one participant's ports and keeps account of every source.
struct PacketSink {
    struct Source {
        var account = SequenceAccount()
        var bytes = 0
        var payloadType: UInt8
        /// Marked access units: RTP timestamp and time of sending of the newest one.
        var marked: (timestamp: UInt32, sentAt: Int64)?
    }

    private(set) var sources: [UInt32: Source] = [:]
    private(set) var senderReports = 0
    private(set) var byes = 0
    private(set) var malformed = 0
    /// From the time of sending to the first and to the last packet of the access unit.
    private(set) var firstPackets = Percentiles()
    private(set) var lastPackets = Percentiles()

    mutating func take(_ packet: UnsafeRawBufferPointer, now: MonotonicTime) {
        guard packet.count >= 12 || (packet.count >= 8 && isRTCP(packet)), packet[0] >> 6 == 2 else {
            malformed += 1
            return
        }
        if isRTCP(packet) { return takeRTCP(packet) }
        func number(_ offset: Int, _ count: Int) -> UInt32 { packet[offset..<offset + count].reduce(0) { $0 << 8 | UInt32($1) } }
        let (ssrc, timestamp) = (number(8, 4), number(4, 4))
        var source = sources[ssrc] ?? Source(payloadType: packet[1] & 0x7F)
        source.account.add(UInt16(number(2, 2)))
        source.bytes += packet.count
        if let sentAt = LatencyMark.time(in: UnsafeRawBufferPointer(rebasing: packet[12...])) {
            firstPackets.add(nanoseconds: now.nanoseconds - sentAt)
            source.marked = (timestamp, sentAt)
        }
        if packet[1] & 0x80 != 0, let marked = source.marked, marked.timestamp == timestamp {
            lastPackets.add(nanoseconds: now.nanoseconds - marked.sentAt)
            source.marked = nil
        }
        sources[ssrc] = source
    }

    /// RTP and RTCP on one port are told apart by the second byte (RFC 5761 §4).
    private func isRTCP(_ packet: UnsafeRawBufferPointer) -> Bool { (192...223).contains(packet[1]) }

    private mutating func takeRTCP(_ compound: UnsafeRawBufferPointer) {
        var offset = 0
        while offset + 4 <= compound.count {
            if compound[offset + 1] == 200 { senderReports += 1 }
            if compound[offset + 1] == 203 { byes += 1 }
            offset += 4 * (1 + (Int(compound[offset + 2]) << 8 | Int(compound[offset + 3])))
        }
    }
}
