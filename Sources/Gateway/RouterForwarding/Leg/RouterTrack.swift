import RTCP
import RTP
import StageHub
import Wire

/// One track's way to one router.
final class RouterTrack {
    let plan: TrackPlan
    let queue: SendQueue
    var numbering: TrackNumbering
    var bounds = FeedbackBounds()
    var report: ReportBlock?
    private(set) var packetCount: UInt32 = 0
    private(set) var octetCount: UInt32 = 0
    var hasReported = false
    /// Half the time between the last two pictures, as RTP ticks.
    private var lastTimestamp: Int64?
    private(set) var spread = Duration.milliseconds(8)

    init(plan: TrackPlan, queue: SendQueue) {
        (self.plan, self.queue) = (plan, queue)
        var generator = SystemRandomNumberGenerator()
        numbering = TrackNumbering(
            clockRate: plan.track.clockRate, firstSequenceNumber: .random(in: 0...UInt16.max, using: &generator),
            firstTimestamp: .random(in: 0...UInt32.max, using: &generator))
    }

    /// Adds the packet, numbered, to the batch.
    func append(_ packet: MediaPacket, to batch: WireBatch, arrival: MonotonicTime) {
        let (sequenceNumber, timestamp) = numbering.number(packet.sequenceNumber, packet.timestamp, arrival: arrival)
        let header = RTPHeader(
            marker: packet.marker, payloadType: plan.payloadType, sequenceNumber: UInt16(truncatingIfNeeded: sequenceNumber),
            timestamp: UInt32(truncatingIfNeeded: timestamp), ssrc: plan.ssrc)
        batch.append(header, head: packet.head, headCount: packet.headCount, payload: packet.payload)
        packetCount &+= 1
        octetCount &+= UInt32(truncatingIfNeeded: packet.payloadByteCount)
    }

    /// Long frames may be spread over half a frame interval, 8 ms at most.
    func noteFrame(at timestamp: Int64) {
        if let last = lastTimestamp, timestamp > last {
            let half = Duration.nanoseconds(min(timestamp &- last, plan.track.clockRate) * 500_000_000 / plan.track.clockRate)
            spread = min(half, SendQueue.maximumSpread)
        }
        lastTimestamp = timestamp
    }

    /// - Parameter timestamp: the publisher's unwrapped RTP time of the moment `ntp`.
    func senderReport(ntp: UInt64, timestamp: Int64) -> SenderReport {
        SenderReport(
            ssrc: plan.ssrc, ntp: ntp, rtpTimestamp: UInt32(truncatingIfNeeded: timestamp &+ numbering.timestampConstant),
            packetCount: packetCount, octetCount: octetCount)
    }
}
