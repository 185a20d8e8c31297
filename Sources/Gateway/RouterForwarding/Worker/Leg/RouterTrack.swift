import EventLoop
import RTCP
import RTP
import StageHub
import Wire

/// One track's way to one router, or one layer's: all that goes out under one SSRC.
final class RouterTrack {
    let plan: TrackPlan
    /// Of the plan.
    let kind: MediaKind
    /// Whose packets go out.
    private var layers: LayerSwitch
    /// When video goes on without the keyframe that is waited for: streams that refresh by and by have none.
    private var patience: MonotonicTime?
    private(set) var isPaused: Bool
    /// Of the next PAUSE, or of the one that holds (RFC 7728 §5.2).
    private var pauseID: UInt16 = 0
    let queue: SendQueue
    /// Only where the router keeps `nack`.
    private let ring: RetransmissionRing?
    private var requests = RetransmissionRequests()
    /// The next turn of what was asked for; nil while nothing waits.
    private var requestTurn: TimerWatch?
    private var numbering: TrackNumbering
    var bounds = FeedbackBounds()
    /// When a packet of the router's about it last came.
    var lastFeedback: MonotonicTime?
    private(set) var packetCount: UInt32 = 0
    private(set) var octetCount: UInt32 = 0
    var hasReported = false
    /// RTP time of the last picture.
    private var lastTimestamp: Int64?
    /// Half the time between the last two pictures, `SendQueue.maximumSpread` at most: over which a long frame is spread.
    private(set) var spread = SendQueue.maximumSpread

    /// - Parameter layer: whose packets go out from wherever it is.
    init(plan: TrackPlan, layer: TrackID, socket: RouterSocket) {
        (self.plan, kind, layers, isPaused) = (plan, plan.track.kind, LayerSwitch(layer), plan.isPaused)
        queue = socket.makeQueue(to: plan.rtp)
        ring = plan.isNACKed ? RetransmissionRing(pool: socket.pool) : nil
        // Both out of one number: each is a system call.
        let start = UInt64.random(in: 0...UInt64.max)
        numbering = TrackNumbering(
            clockRate: plan.track.clockRate, firstSequenceNumber: UInt16(truncatingIfNeeded: start),
            firstTimestamp: UInt32(truncatingIfNeeded: start >> 32))
    }

    // MARK: Layers

    /// The layer whose packets go out now, and the one that is aimed at.
    var layer: TrackID? { layers.current }
    var target: TrackID? { layers.target }
    /// Whose keyframe is waited for.
    var wanted: TrackID? { isPaused ? nil : layers.wanted }

    /// Another layer from its next keyframe on.
    func aim(at layer: TrackID) { layers.aim(at: layer) }

    /// Nothing more before the next keyframe, or before `deadline` where none comes.
    func awaitKeyframe(until deadline: MonotonicTime?) {
        patience = deadline
        layers.awaitKeyframe()
    }

    /// What becomes of a run of the publication.
    func passage(of run: MediaRun) -> LayerSwitch.Passage {
        guard !isPaused else { return .rests }
        let passage = layers.passage(of: run)
        guard passage == .rests, let patience, run.track == layers.current, run.arrival >= patience else { return passage }
        let target = layers.target
        layers = LayerSwitch(run.track)
        layers.aim(at: target)
        return .goesOn
    }

    /// The next packet is of another layer, or comes after a pause: numbers go on, whatever the publisher's do.
    /// - Parameter shift: from its clock to that of the packets before.
    func change(shift: Int64?) { numbering.change(shift: shift) }

    /// Before the first packet: timestamps on the clock of another layer of the same leg, of which some were sent.
    /// - Parameter shift: from our layer's clock to that one's.
    func share(clockOf other: RouterTrack, shift: Int64, first: Int64) {
        numbering = TrackNumbering(
            clockRate: plan.track.clockRate,
            // The router may have been told of it (`highestSequenceNumber`).
            firstSequenceNumber: UInt16(truncatingIfNeeded: numbering.firstSequenceNumber),
            firstTimestamp: UInt32(truncatingIfNeeded: first &+ shift &+ other.numbering.timestampConstant))
    }

    /// A router's PAUSE of this layer (RFC 7728 §6.1).
    /// - Returns: whether it is to be answered: it holds now, which one from before a RESUME does not, and has not been answered
    ///   just now, nor too often.
    func pause(_ identifier: UInt16, at now: MonotonicTime) -> Bool {
        guard isCurrent(identifier) else { return false }
        let isNew = !isPaused || identifier != pauseID
        (isPaused, pauseID) = (true, identifier)
        return bounds.admitsPaused(isNew: isNew, at: now)
    }

    /// - Returns: whether the layer was paused, and begins with its next keyframe.
    func resume(_ identifier: UInt16) -> Bool {
        guard isPaused, isCurrent(identifier) else { return false }
        (isPaused, pauseID) = (false, identifier &+ 1)
        awaitKeyframe(until: nil)
        // What was left out is no loss.
        numbering.change(shift: 0)
        return true
    }

    private func isCurrent(_ identifier: UInt16) -> Bool { Int16(bitPattern: identifier &- pauseID) >= 0 }

    /// The last sequence number sent, with its rounds; before the first, the one below that (RFC 7728 §8.2, erratum 5540).
    var highestSequenceNumber: UInt32 {
        UInt32(truncatingIfNeeded: numbering.highestSent ?? numbering.firstSequenceNumber - 1)
    }

    // MARK: Packets

    /// The publisher's numbers begin anew with the next packet, and a report tells what its timestamps mean.
    func restart() {
        numbering.restart()
        hasReported = false
    }

    /// Whether the publisher's number jumps to another sequence; the caller asks for a keyframe then.
    func isJump(_ sequenceNumber: Int64) -> Bool { numbering.isJump(sequenceNumber) }

    /// Adds packets, numbered, to an empty batch until it is full; not those from before a layer's first one, whose numbers were
    /// the former layer's.
    /// - Returns: how many were taken.
    func append(_ packets: UnsafeBufferPointer<MediaPacket>, to batch: WireBatch, arrival: MonotonicTime) -> Int {
        let (payloadType, ssrc, headerExtension) = (plan.payloadType, plan.ssrc, plan.headerExtension)
        // Out of the object for the time being: a checked access to it for every packet costs as much as the numbering.
        var (numbering, octets) = (numbering, octetCount)
        let count = min(packets.count, WireBatch.capacity)
        for index in 0..<count {
            let packet = unsafe packets[index]
            let (sequenceNumber, timestamp) = numbering.number(packet.sequenceNumber, packet.timestamp, arrival: arrival)
            guard numbering.isFree(sequenceNumber) else { continue }
            let header = RTPHeader(
                marker: packet.marker, payloadType: payloadType, sequenceNumber: UInt16(truncatingIfNeeded: sequenceNumber),
                timestamp: UInt32(truncatingIfNeeded: timestamp), ssrc: ssrc)
            unsafe batch.append(header, headerExtension, head: packet.head, headCount: packet.headCount, payload: packet.payload)
            octets &+= UInt32(truncatingIfNeeded: packet.payloadByteCount)
        }
        self.numbering = numbering
        packetCount &+= UInt32(truncatingIfNeeded: batch.count)
        octetCount = octets
        return count
    }

    /// Long frames may be spread over half a frame interval, `SendQueue.maximumSpread` at most.
    func noteFrame(at timestamp: Int64) {
        if let last = lastTimestamp, timestamp > last {
            let half = Duration.nanoseconds(min(timestamp &- last, plan.track.clockRate) * 500_000_000 / plan.track.clockRate)
            spread = min(half, SendQueue.maximumSpread)
        }
        lastTimestamp = timestamp
    }

    /// Remembers what goes out: for NACKs, and what they and answers may cost.
    func keep(_ batch: WireBatch, at now: MonotonicTime) {
        bounds.sent(byteCount: batch.byteCount)
        ring?.keep(batch, at: now)
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
