import EventLoop
import RTCP
import RTP
import StageHub
import Wire

/// One track's way to one router.
final class RouterTrack {
    let plan: TrackPlan
    /// Of the plan.
    let id: TrackID
    let queue: SendQueue
    /// Only where the router keeps `nack`.
    private let ring: RetransmissionRing?
    private var requests = RetransmissionRequests()
    /// The next turn of what was asked for; nil while nothing waits.
    private var requestTurn: TimerWatch?
    private var numbering: TrackNumbering
    var bounds = FeedbackBounds()
    private(set) var packetCount: UInt32 = 0
    private(set) var octetCount: UInt32 = 0
    var hasReported = false
    /// Half the time between the last two pictures, as RTP ticks.
    private var lastTimestamp: Int64?
    private(set) var spread = Duration.milliseconds(8)

    init(plan: TrackPlan, socket: RouterSocket) {
        (self.plan, id) = (plan, plan.track)
        queue = socket.makeQueue(to: plan.rtp)
        ring = plan.isNACKed ? RetransmissionRing(pool: socket.pool) : nil
        // Both out of one number: each is a system call.
        let start = UInt64.random(in: 0...UInt64.max)
        numbering = TrackNumbering(
            clockRate: plan.track.clockRate, firstSequenceNumber: UInt16(truncatingIfNeeded: start),
            firstTimestamp: UInt32(truncatingIfNeeded: start >> 32))
    }

    /// The publisher's numbers begin anew with the next packet.
    func restart() { numbering.restart() }

    /// Whether the publisher's number jumps to another sequence; the caller asks for a keyframe then.
    func isJump(_ sequenceNumber: Int64) -> Bool { numbering.isJump(sequenceNumber) }

    /// Adds packets, numbered, to an empty batch until it is full.
    /// - Returns: how many.
    func append(_ packets: UnsafeBufferPointer<MediaPacket>, to batch: WireBatch, arrival: MonotonicTime) -> Int {
        let (payloadType, ssrc) = (plan.payloadType, plan.ssrc)
        // Out of the object for the time being: a checked access to it for every packet costs as much as the numbering.
        var (numbering, octets) = (numbering, octetCount)
        for index in 0..<min(packets.count, WireBatch.capacity) {
            let packet = unsafe packets[index]
            let (sequenceNumber, timestamp) = numbering.number(packet.sequenceNumber, packet.timestamp, arrival: arrival)
            let header = RTPHeader(
                marker: packet.marker, payloadType: payloadType, sequenceNumber: UInt16(truncatingIfNeeded: sequenceNumber),
                timestamp: UInt32(truncatingIfNeeded: timestamp), ssrc: ssrc)
            unsafe batch.append(header, head: packet.head, headCount: packet.headCount, payload: packet.payload)
            octets &+= UInt32(truncatingIfNeeded: packet.payloadByteCount)
        }
        self.numbering = numbering
        packetCount &+= UInt32(truncatingIfNeeded: batch.count)
        octetCount = octets
        return batch.count
    }

    /// Long frames may be spread over half a frame interval, 8 ms at most.
    func noteFrame(at timestamp: Int64) {
        if let last = lastTimestamp, timestamp > last {
            let half = Duration.nanoseconds(min(timestamp &- last, plan.track.clockRate) * 500_000_000 / plan.track.clockRate)
            spread = min(half, SendQueue.maximumSpread)
        }
        lastTimestamp = timestamp
    }

    /// Remembers what goes out: for NACKs, and what they may cost.
    func keep(_ batch: WireBatch, at now: MonotonicTime) {
        guard let ring else { return }
        ring.keep(batch, at: now)
        for index in 0..<batch.count { bounds.sent(byteCount: batch.byteCount(of: index)) }
    }

    /// Sends again what is missed and still kept, within the bounds: a part at once, the rest in turns of its own.
    func retransmit(_ nack: GenericNACK, through socket: RouterSocket) {
        guard ring != nil else { return }
        requests.add(nack)
        if requestTurn == nil { serveRequests(through: socket) }
    }

    private func serveRequests(through socket: RouterSocket) {
        guard let ring else { return }
        requests.serve { sequenceNumber in
            guard bounds.hasRetransmissionCredit, let packet = unsafe ring.packet(sequenceNumber, at: socket.loop.now),
                bounds.admitsRetransmission(byteCount: packet.count)
            else { return false }
            unsafe socket.sendAgain(packet, to: plan.rtp)
            return true
        }
        guard !requests.isEmpty else { return }
        requestTurn = socket.loop.schedule(after: RetransmissionRequests.turnInterval) { [unowned self, unowned socket] in
            requestTurn = nil
            serveRequests(through: socket)
        }
    }

    /// - Parameter timestamp: the publisher's unwrapped RTP time of the moment `ntp`.
    func senderReport(ntp: UInt64, timestamp: Int64) -> SenderReport {
        SenderReport(
            ssrc: plan.ssrc, ntp: ntp, rtpTimestamp: UInt32(truncatingIfNeeded: timestamp &+ numbering.timestampConstant),
            packetCount: packetCount, octetCount: octetCount)
    }
}
