import RTCP
import RTP
import SDP
import StageHub
import WebRTCTransport
import Wire

/// One track toward one subscriber: its payload type, its source, its numbers and its reports.
struct SubscriberTrack {
    let ssrc: UInt32
    let retransmissionSSRC: UInt32
    private let payloadType: UInt8
    private let retransmissionPayloadType: UInt8?
    /// MID and transport-wide number, where they were negotiated.
    private let headerExtension: SubscriberExtension
    private var numbering: TrackNumbering
    private var nextRetransmission: UInt16
    private var epoch: UInt64?
    private var clock: MediaBlock.ClockReading?
    private(set) var packetCount: UInt32 = 0
    private(set) var octetCount: UInt32 = 0
    private(set) var hasReported = false

    /// - Parameter random: two random numbers to start from (RFC 3550 §5.1).
    init(_ section: SubscriberSection, _ sources: SubscriberSources, random: (sequence: UInt32, timestamp: UInt32)) {
        ssrc = section.kind == .video ? sources.video : sources.audio
        retransmissionSSRC = sources.retransmission
        (payloadType, retransmissionPayloadType) = (section.map.payloadType, section.retransmissionPayloadType)
        headerExtension = SubscriberExtension(section)
        numbering = TrackNumbering(
            clockRate: TrackID(section.kind).clockRate, firstSequenceNumber: UInt16(truncatingIfNeeded: random.sequence),
            firstTimestamp: random.timestamp)
        // SRTP's rollover counter is 0 on both sides, though the first ones be lost: 15 bits, as of the media's.
        nextRetransmission = UInt16(truncatingIfNeeded: random.sequence >> 17)
    }

    /// Whether its packets have transport-wide numbers, by which the viewer tells when they came.
    var isNumberedTransportWide: Bool { headerExtension.hasTransportNumber }

    // MARK: - Packets

    /// Takes note of a block before its packets are written: a new epoch begins the publisher's numbers anew.
    mutating func begin(_ block: MediaBlock, epoch: UInt64) {
        if let known = self.epoch, known != epoch { (clock, hasReported) = (nil, false); numbering.restart() }
        self.epoch = epoch
        if let reading = block.clock { clock = reading }
    }

    /// The next packet is of another layer, whose clock and numbers are its own; ours go on.
    /// - Parameter shift: what makes its timestamps those of the layer before; nil when that is not known.
    mutating func change(shift: Int64?) {
        clock = nil
        numbering.change(shift: shift)
    }

    /// Writes a packet to send.
    /// - Parameter number: transport-wide.
    /// - Returns: its length, bytes; nil when it does not fit into a datagram, or has come too late: before the layer's first.
    mutating func write(
        _ packet: MediaBlock.Packet, of block: MediaBlock, number: UInt16, into buffer: UnsafeMutableRawBufferPointer
    ) -> Int? {
        guard unsafe fits(packet, more: 0, buffer) else { return nil }
        let (sequenceNumber, timestamp) = numbering.number(
            packet.sequenceNumber, packet.timestamp, arrival: block.arrival)
        guard numbering.isFree(sequenceNumber) else { return nil }
        let start = unsafe writeHeader(
            RTPHeader(
                marker: packet.marker, payloadType: payloadType, sequenceNumber: UInt16(truncatingIfNeeded: sequenceNumber),
                timestamp: UInt32(truncatingIfNeeded: timestamp), ssrc: ssrc), number, into: buffer)
        packetCount &+= 1
        octetCount &+= UInt32(truncatingIfNeeded: packet.range.count)
        return unsafe start + copy(packet.range, of: block, into: buffer, at: start)
    }

    /// The publisher's number of the packet that went out as `sequenceNumber`; nil when it can be none since the last epoch.
    func publisherNumber(of sequenceNumber: UInt16) -> Int64? { numbering.publisherNumber(ofSent: sequenceNumber) }

    /// Writes a packet once more, for RTX: another source and number, the original number before the payload (RFC 4588 §4).
    mutating func writeRetransmission(
        _ packet: MediaBlock.Packet, sentAs sequenceNumber: UInt16, of block: MediaBlock, number: UInt16,
        into buffer: UnsafeMutableRawBufferPointer
    ) -> Int? {
        guard let retransmissionPayloadType, unsafe fits(packet, more: 2, buffer) else { return nil }
        let start = unsafe writeRetransmissionHeader(
            timestamp: packet.timestamp &+ numbering.timestampConstant, marker: packet.marker, retransmissionPayloadType, number,
            into: buffer)
        unsafe buffer.storeBytes(of: sequenceNumber.bigEndian, toByteOffset: start, as: UInt16.self)
        return unsafe start + 2 + copy(packet.range, of: block, into: buffer, at: start + 2)
    }

    /// Writes a packet without payload, to fill the way with: receivers count its coming, and nothing else (RFC 3550 §5.1).
    /// - Parameter byteCount: of padding, 1 to 255.
    mutating func writePadding(_ byteCount: UInt8, number: UInt16, into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard let retransmissionPayloadType else { return nil }
        let start = unsafe writeRetransmissionHeader(
            timestamp: numbering.newestTimestamp, marker: false, retransmissionPayloadType, number, into: buffer)
        unsafe buffer[0] |= 0x20
        let padding = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[start..<start + Int(byteCount)])
        unsafe padding.initializeMemory(as: UInt8.self, repeating: 0)
        unsafe padding[padding.count - 1] = byteCount
        return start + Int(byteCount)
    }

    private mutating func writeRetransmissionHeader(
        timestamp: Int64, marker: Bool, _ payloadType: UInt8, _ number: UInt16, into buffer: UnsafeMutableRawBufferPointer
    ) -> Int {
        defer { nextRetransmission &+= 1 }
        return unsafe writeHeader(
            RTPHeader(
                marker: marker, payloadType: payloadType, sequenceNumber: nextRetransmission,
                timestamp: UInt32(truncatingIfNeeded: timestamp), ssrc: retransmissionSSRC), number, into: buffer)
    }

    private func fits(_ packet: MediaBlock.Packet, more: Int, _ buffer: UnsafeMutableRawBufferPointer) -> Bool {
        let byteCount = RTPHeader.fixedByteCount + headerExtension.byteCount + more + packet.range.count
        return byteCount + PeerTransport.protectionByteCount <= buffer.count
    }

    /// The fixed header and the extension; returns where the payload starts.
    private func writeHeader(_ header: RTPHeader, _ number: UInt16, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard let base = buffer.baseAddress else { return 0 }
        unsafe header.writeFixed(into: base)
        guard headerExtension.byteCount > 0 else { return RTPHeader.fixedByteCount }
        unsafe buffer[0] |= 0x10
        unsafe headerExtension.write(
            number: number, into: UnsafeMutableRawBufferPointer(rebasing: buffer[RTPHeader.fixedByteCount...]))
        return RTPHeader.fixedByteCount + headerExtension.byteCount
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
        let elapsed = ClockRate.ticks(ofNanoseconds: (now - clock.time).nanoseconds, at: numbering.clockRate)
        let timestamp = clock.timestamp &+ elapsed &+ numbering.timestampConstant
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
