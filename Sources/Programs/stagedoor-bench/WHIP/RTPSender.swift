import RTCP
import RTP
import SRTP
import Wire

/// One track on its way out: numbers and times of its packets, what reports say of it, and the packets that may be asked for.
struct RTPSender {
    /// Nearly two seconds of 2.5 Mbit/s; what is older comes too late for a decoder.
    static let usualRing = 512

    let ssrc: UInt32
    let payloadType: UInt8
    let clockRate: Int
    private(set) var packetCount = 0
    private(set) var octetCount = 0
    private var sequenceNumber: UInt16
    private let firstTimestamp: UInt32
    /// MID and RID in one word, where the offer has layers (RFC 8285 §4.2).
    private let extensions: [UInt8]
    /// Protected packets by sequence number: a retransmission sends the very bytes that were sent before.
    private var ring: [(number: UInt16, bytes: [UInt8])?]

    /// - Parameters:
    ///   - rid: of a layer; nil without layers.
    ///   - ringSize: how many packets may be asked for again.
    ///   - startsAtZero: numbers and times begin at 0, otherwise anywhere.
    init(ssrc: UInt32, payloadType: UInt8, clockRate: Int, rid: UInt8? = nil, ringSize: Int = 0, startsAtZero: Bool = false) {
        (self.ssrc, self.payloadType, self.clockRate) = (ssrc, payloadType, clockRate)
        extensions = rid.map { [0xBE, 0xDE, 0, 1, WHIPOffer.midID << 4, WHIPOffer.videoMid, WHIPOffer.ridID << 4, $0] } ?? []
        sequenceNumber = startsAtZero ? 0 : .random(in: 0...0x7FFF)
        firstTimestamp = startsAtZero ? 0 : .random(in: 0...UInt32.max)
        ring = Array(repeating: nil, count: ringSize)
    }

    /// The next packet, protected.
    /// - Parameter timestamp: RTP time since the beginning.
    mutating func protect(
        _ payload: [UInt8], timestamp: UInt32, isLast: Bool, by protection: inout SRTPOutbound
    ) throws(SRTPError) -> [UInt8] {
        let header = RTPHeader(
            marker: isLast, payloadType: payloadType, sequenceNumber: sequenceNumber, timestamp: firstTimestamp &+ timestamp,
            ssrc: ssrc)
        let headCount = RTPHeader.fixedByteCount + extensions.count
        let plainCount = headCount + payload.count
        var bytes = [UInt8](repeating: 0, count: plainCount + SRTPOutbound.trailerByteCount)
        let count = try unsafe bytes.withUnsafeMutableBufferPointer { bytes throws(SRTPError) in
            let buffer = UnsafeMutableRawBufferPointer(bytes)
            if let base = buffer.baseAddress { unsafe header.writeFixed(into: base) }
            if !extensions.isEmpty {
                unsafe buffer[0] |= 0x10
                unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[RTPHeader.fixedByteCount...]).copyBytes(from: extensions)
            }
            unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[headCount...]).copyBytes(from: payload)
            return try unsafe protection.protect(buffer, count: plainCount)
        }
        bytes.removeLast(bytes.count - count)
        if !ring.isEmpty { ring[Int(sequenceNumber) % ring.count] = (sequenceNumber, bytes) }
        sequenceNumber &+= 1
        packetCount += 1
        octetCount += payload.count
        return bytes
    }

    /// The bytes of a packet sent not long ago.
    func packet(_ number: UInt16) -> [UInt8]? {
        guard !ring.isEmpty, let kept = ring[Int(number) % ring.count], kept.number == number else { return nil }
        return kept.bytes
    }

    /// What an RTP time means in civil time (RFC 3550 §6.4.1).
    /// - Parameter elapsed: media time since the beginning.
    func report(at wall: WallTime, elapsed: Duration) -> SenderReport {
        let ticks = Int64(elapsed.inSeconds * Double(clockRate))
        return SenderReport(
            ssrc: ssrc, ntp: wall.ntp, rtpTimestamp: firstTimestamp &+ UInt32(truncatingIfNeeded: ticks),
            packetCount: UInt32(truncatingIfNeeded: packetCount), octetCount: UInt32(truncatingIfNeeded: octetCount))
    }
}
