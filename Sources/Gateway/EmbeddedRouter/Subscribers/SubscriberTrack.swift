import SDP
import RTCP
import RTP
import StageHub
import WebRTCTransport
import Wire

/// One track toward one subscriber: its payload type, its source, its numbers and its reports.
struct SubscriberTrack {
    let kind: MediaKind
    let ssrc: UInt32
    let retransmissionSSRC: UInt32
    private let payloadType: UInt8
    private let retransmissionPayloadType: UInt8?
    /// The element of the MID extension with what stands before it, padded to words; empty without.
    private let headerExtension: [UInt8]
    private var numbering: TrackNumbering
    private var nextRetransmission: UInt16
    private var epoch: UInt64?
    private var clock: MediaBlock.ClockReading?
    private(set) var packetCount: UInt32 = 0
    private var octetCount: UInt32 = 0
    private(set) var hasReported = false
    /// Frames that ended: packets with the marker for video.
    private(set) var frameCount = 0

    /// - Parameter random: two random numbers to start from (RFC 3550 §5.1).
    init(_ section: SubscriberSection, _ sources: SubscriberSources, random: (sequence: UInt32, timestamp: UInt32)) {
        kind = section.kind
        ssrc = section.kind == .video ? sources.video : sources.audio
        retransmissionSSRC = sources.retransmission
        (payloadType, retransmissionPayloadType) = (section.map.payloadType, section.retransmissionPayloadType)
        headerExtension = section.midExtension.map { Self.element(id: $0, mid: Array(section.mid.utf8)) } ?? []
        numbering = TrackNumbering(
            clockRate: TrackID(section.kind).clockRate, firstSequenceNumber: UInt16(truncatingIfNeeded: random.sequence),
            firstTimestamp: random.timestamp)
        nextRetransmission = UInt16(truncatingIfNeeded: random.sequence >> 16)
    }

    /// A one-byte-header extension with the MID alone (RFC 8285 §4.2).
    private static func element(id: UInt8, mid: [UInt8]) -> [UInt8] {
        guard !mid.isEmpty else { return [] }
        var elements = [id << 4 | UInt8(mid.count - 1)] + mid
        while elements.count % 4 != 0 { elements.append(0) }
        return [0xBE, 0xDE, 0, UInt8(elements.count / 4)] + elements
    }

    // MARK: - Packets

    /// Takes note of a block before its packets are written: a new epoch begins the publisher's numbers anew.
    mutating func begin(_ block: MediaBlock, epoch: UInt64) {
        if let known = self.epoch, known != epoch { (clock, hasReported) = (nil, false); numbering.restart() }
        self.epoch = epoch
        if let reading = block.clock { clock = reading }
    }

    /// Writes a packet to send.
    /// - Returns: its length, bytes; nil when it does not fit into a datagram.
    mutating func write(_ packet: MediaBlock.Packet, of block: MediaBlock, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard unsafe fits(packet, more: 0, buffer) else { return nil }
        let (sequenceNumber, timestamp) = numbering.number(
            packet.sequenceNumber, packet.timestamp, arrival: block.arrival)
        let start = unsafe writeHeader(
            RTPHeader(
                marker: packet.marker, payloadType: payloadType, sequenceNumber: UInt16(truncatingIfNeeded: sequenceNumber),
                timestamp: UInt32(truncatingIfNeeded: timestamp), ssrc: ssrc), into: buffer)
        packetCount &+= 1
        octetCount &+= UInt32(truncatingIfNeeded: packet.range.count)
        if packet.marker || kind == .audio { frameCount += 1 }
        return unsafe start + copy(packet.range, of: block, into: buffer, at: start)
    }

    /// The publisher's number of the packet that went out as `sequenceNumber`; nil when it can be none since the last epoch.
    func publisherNumber(of sequenceNumber: UInt16) -> Int64? { numbering.publisherNumber(ofSent: sequenceNumber) }

    /// Writes a packet once more, for RTX: another source and number, the original number before the payload (RFC 4588 §4).
    mutating func writeRetransmission(
        _ packet: MediaBlock.Packet, sentAs sequenceNumber: UInt16, of block: MediaBlock,
        into buffer: UnsafeMutableRawBufferPointer
    ) -> Int? {
        guard let retransmissionPayloadType, unsafe fits(packet, more: 2, buffer) else { return nil }
        let start = unsafe writeHeader(
            RTPHeader(
                marker: packet.marker, payloadType: retransmissionPayloadType, sequenceNumber: nextRetransmission,
                timestamp: UInt32(truncatingIfNeeded: packet.timestamp &+ numbering.timestampConstant),
                ssrc: retransmissionSSRC), into: buffer)
        nextRetransmission &+= 1
        unsafe buffer.storeBytes(of: sequenceNumber.bigEndian, toByteOffset: start, as: UInt16.self)
        return unsafe start + 2 + copy(packet.range, of: block, into: buffer, at: start + 2)
    }

    private func fits(_ packet: MediaBlock.Packet, more: Int, _ buffer: UnsafeMutableRawBufferPointer) -> Bool {
        let byteCount = RTPHeader.fixedByteCount + headerExtension.count + more + packet.range.count
        return byteCount + PeerTransport.protectionByteCount <= buffer.count
    }

    /// The fixed header and the extension; returns where the payload starts.
    private func writeHeader(_ header: RTPHeader, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let base = buffer.baseAddress else { return 0 }
        unsafe header.writeFixed(into: base)
        guard !headerExtension.isEmpty else { return RTPHeader.fixedByteCount }
        unsafe buffer[0] |= 0x10
        unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[RTPHeader.fixedByteCount...]).copyBytes(from: headerExtension)
        return RTPHeader.fixedByteCount + headerExtension.count
    }

    private func copy(
        _ range: Range<Int>, of block: MediaBlock, into buffer: UnsafeMutableRawBufferPointer, at offset: Int
    ) -> Int {
        unsafe block.bytes.withUnsafeBytes { bytes in
            unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[offset...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[range]))
        }
        return range.count
    }

    // MARK: - Reports

    /// SR and CNAME for the moment `now`: both tracks' come from the publication's one timeline.
    /// - Returns: false while nothing was sent or the timeline is not known.
    mutating func writeReport(at now: MonotonicTime, wall: WallTime, into writer: inout ByteWriter) -> Bool {
        guard packetCount > 0, let clock else { return false }
        let elapsed = (now - clock.time).nanoseconds
        let (seconds, rest) = elapsed.quotientAndRemainder(dividingBy: 1_000_000_000)
        let rate = numbering.clockRate
        let timestamp = clock.timestamp &+ seconds * rate &+ rest * rate / 1_000_000_000 &+ numbering.timestampConstant
        SenderReport(
            ssrc: ssrc, ntp: wall.ntp, rtpTimestamp: UInt32(truncatingIfNeeded: timestamp), packetCount: packetCount,
            octetCount: octetCount
        ).write(into: &writer)
        SourceDescription(chunks: [.init(ssrc: ssrc, cname: Self.cname)]).write(into: &writer)
        hasReported = true
        return true
    }

    /// The same for both tracks, so that receivers play them in step (RFC 3550 §6.5.1).
    static let cname = "stagedoor"
}
