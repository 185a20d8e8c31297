import EventLoop
import GatewayMetrics
import OpenSSL
import RTCP
import Refusals
import Settings
import StageHub
import WebRTCTransport
import Wire

/// One WHEP subscriber on the worker that owns it: blocks in, its own SRTP out, its feedback in.
///
/// Not Sendable on purpose: other threads reach it through its `SubscriberEntry`.
final class SubscriberSession: TransportSession {
    let entry: SubscriberEntry
    /// Keeps this session until both end.
    private unowned let transport: PeerTransport
    /// Kept by the port for as long as it has sessions.
    private unowned let worker: EmbeddedRouterWorker
    private var video: SubscriberTrack?
    private var audio: SubscriberTrack?
    private var layers: SubscriberLayers
    private var meter: SubscriberMeter
    private var budget = FeedbackBudget()
    private var requests = RetransmissionRequests()
    /// The next turn of what was asked for; nil while nothing waits.
    private var requestTurn: TimerWatch?
    /// Turns of padding, while the way is tried.
    private var paddingTurns: TimerWatch?
    private var isReady = false
    /// When it has watched for as long as it may.
    private var watchesUntil = MonotonicTime.zero
    /// Wall clock less monotonic clock, fixed for the session: a clock read later in a turn than its moment would have sound and
    /// pictures drift apart by as much.
    private let wallOffset = EventLoop.wallOffset()

    init(entry: SubscriberEntry, transport: PeerTransport, worker: EmbeddedRouterWorker) {
        (self.entry, self.transport, self.worker) = (entry, transport, worker)
        (layers, meter) = (SubscriberLayers(of: entry), SubscriberMeter(of: entry))
        func track(_ kind: MediaKind) -> SubscriberTrack? {
            entry.offer.section(kind).map {
                SubscriberTrack($0, entry.sources, random: (Random.integer(), Random.integer()))
            }
        }
        (video, audio) = (track(.video), track(.audio))
    }

    func transportReady() {
        isReady = true
        watchesUntil = transport.loop.now + worker.context.settings.sessionDuration
        worker.attach(self)
    }

    func transportEnded(_ reason: SessionEnd) {
        isReady = false
        (requestTurn, paddingTurns) = (nil, nil)
        worker.detach(self)
    }

    func end(_ reason: SessionEnd) { transport.end(reason) }

    // MARK: - Layers

    /// - Parameter layers: best first; nil while nobody publishes.
    func layersChanged(_ layers: [VideoLayer]?) {
        self.layers.update(to: layers)
        if layers != nil { aim() }
    }

    /// What is chosen is waited for, and its keyframe asked for.
    private func aim() {
        let now = transport.loop.now
        let change = layers.aim(at: now)
        // What is left out is no loss.
        if change == .rests { video?.change(shift: 0) }
        if change != .none { worker.wantsChanged(of: self) }
        if let wanted = layers.wanted { keyframeWanted(of: wanted, at: now) }
    }

    func want(_ layers: inout LayerSet) { self.layers.want(&layers) }

    /// The publisher's numbers began anew, or a piece is missing: decoding goes on at the next keyframe.
    func awaitKeyframe() { layers.awaitKeyframe() }

    // MARK: - Sending

    /// Sends what of a block this subscriber takes. Nothing here waits, and nothing that fails ends the session.
    func send(_ block: MediaBlock, epoch: UInt64, at now: MonotonicTime) {
        guard isReady else { return }
        if block.track.kind == .audio {
            let before = meter.byteCount
            send(block, epoch, &audio, at: now)
            return meter.soundSent(since: before)
        }
        switch layers.passage(of: block.run) {
        case .rests: return
        case .goesOn: break
        case .begins(let former): begin(block, after: former)
        }
        send(block, epoch, &video, at: now)
    }

    private func begin(_ block: MediaBlock, after former: TrackID?) {
        guard let former else { return }
        video?.change(shift: block.shift(from: former))
        worker.context.metrics.layerSwitches.increment()
        worker.wantsChanged(of: self)
    }

    private func send(_ block: MediaBlock, _ epoch: UInt64, _ track: inout SubscriberTrack?, at now: MonotonicTime) {
        guard let isNumbered = track?.isNumberedTransportWide else { return }
        track?.begin(block, epoch: epoch)
        for packet in block.packets {
            guard let count = unsafe track?.write(packet, of: block, number: transportNumber, into: worker.scratch),
                transmit(count, isNumbered: isNumbered, at: now)
            else { continue }
            budget.sent(at: now)
            meter.packetSent()
            worker.context.metrics.packets.increment()
        }
        if track?.hasReported == false { report(&track, at: now) }
    }

    private var isVideoNumbered: Bool { video?.isNumberedTransportWide == true }
    private var transportNumber: UInt16 { UInt16(truncatingIfNeeded: layers.adaptation.estimate.sent.next) }

    /// Protects what is written in the worker's scratch and sends it.
    private func transmit(_ count: Int, isNumbered: Bool, at now: MonotonicTime) -> Bool {
        guard let length = unsafe transport.protect(worker.scratch, count: count) else { return false }
        unsafe transport.send(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(worker.scratch)[..<length]))
        meter.sent(byteCount: length)
        if isNumbered { layers.adaptation.sent(byteCount: length, at: now) }
        return true
    }

    private func report(_ track: inout SubscriberTrack?, at now: MonotonicTime) {
        var writer = ByteWriter(reserving: 64)
        let wall = WallTime(nanosecondsSince1970: now.nanoseconds) + wallOffset
        let isWritten = track?.writeReport(at: now, wall: wall, into: &writer) ?? false
        if isWritten { transport.sendControl(writer.bytes) }
    }

    // MARK: - Feedback

    func receiveMedia(_ packet: UnsafeRawBufferPointer, at now: MonotonicTime) {}
    func flush() {}

    func receiveControl(_ compound: UnsafeRawBufferPointer, at now: MonotonicTime) {
        guard let packets = try? unsafe RTCPCompound.parse(compound.bytes) else { return }
        for packet in packets {
            switch packet {
            case .receiverReport(let report): note(report.reports, at: now)
            case .senderReport(let report): note(report.reports, at: now)
            case .transportWide(let feedback): layers.adaptation.received(feedback, at: now)
            case .bitrateLimit(let limit): layers.adaptation.limited(to: limit.bitsPerSecond, at: now)
            case .pictureLoss(let request) where request.mediaSSRC == entry.sources.video: pictureLost(at: now)
            case .fullIntraRequest: pictureLost(at: now)
            case .nack(let nack) where nack.mediaSSRC == entry.sources.video: requests.add(nack)
            default: break
            }
        }
        if !requests.isEmpty, requestTurn == nil { serveRequests(at: now) }
        if layers.isChoiceNew { aim() }
    }

    private func pictureLost(at now: MonotonicTime) {
        if let layer = layers.decodable { keyframeWanted(of: layer, at: now) }
    }

    private func keyframeWanted(of layer: TrackID, at now: MonotonicTime) {
        if budget.admitsKeyframeRequest(at: now) { worker.requestKeyframe(of: layer, for: self) }
    }

    /// Sends again what was asked for, is kept and within the budget: a part at once, the rest in turns of its own.
    private func serveRequests(at now: MonotonicTime) {
        guard isReady, video != nil, admitsRetransmission(at: now) else { return requests.removeAll() }
        requests.serve { retransmit($0, at: now) }
        guard !requests.isEmpty else { return }
        requestTurn = transport.loop.schedule(after: RetransmissionRequests.turnInterval) { [unowned self] in
            requestTurn = nil
            serveRequests(at: transport.loop.now)
        }
    }

    private func admitsRetransmission(at now: MonotonicTime) -> Bool {
        budget.admitsRetransmission(of: layers.adaptation.estimate.bitsPerSecond(at: now), at: now)
    }

    private func retransmit(_ sequenceNumber: UInt16, at now: MonotonicTime) -> Bool {
        guard admitsRetransmission(at: now), let number = video?.publisherNumber(of: sequenceNumber),
            let layer = layers.flowing, let (block, packet) = worker.kept(number, of: layer, for: self),
            let count = unsafe video?.writeRetransmission(
                packet, sentAs: sequenceNumber, of: block, number: transportNumber, into: worker.scratch),
            transmit(count, isNumbered: isVideoNumbered, at: now)
        else { return false }
        budget.retransmitted(at: now)
        worker.context.metrics.retransmissions.increment()
        return true
    }

    private func note(_ blocks: [ReportBlock], at now: MonotonicTime) {
        for block in blocks where [entry.sources.video, entry.sources.audio].contains(block.ssrc) {
            if block.ssrc == entry.sources.video || layers.isSoundAlone {
                layers.adaptation.reported(fractionLost: block.fractionLost, at: now)
            }
            meter.note(block)
        }
    }

    // MARK: - Time

    func look(at now: MonotonicTime) {
        if isReady, now >= watchesUntil { return end(.refused(Refusal(.watchedTooLong))) }
        layers.adaptation.wish = entry.desk.wish
        aim()
        tryWay(at: now)
        tellNews(at: now)
        guard meter.isSecondOver(at: now) else { return }
        report(&video, at: now)
        report(&audio, at: now)
        endSecond(at: now)
    }

    private func tellNews(at now: MonotonicTime) {
        if let state = layers.news(at: now) { entry.desk.tell(state) }
    }

    private func endSecond(at now: MonotonicTime) {
        guard let sound = meter.endSecond(video, audio, at: now) else { return }
        layers.adaptation.soundBitsPerSecond = sound
        layers.adaptation.maximumBitsPerSecond = worker.context.allowances.share(
            of: entry.viewer, session: entry.transport.id, taking: meter.statistics.bitsPerSecond)
        worker.context.registry.note(meter.statistics)
    }

    // MARK: - Trying the way

    private func tryWay(at now: MonotonicTime) {
        guard isReady, paddingTurns == nil, layers.adaptation.beginsTry(at: now) else { return }
        let interval = ProbePlan.turnInterval
        paddingTurns = transport.loop.schedule(after: interval, repeating: interval) { [unowned self] in
            pad(at: transport.loop.now)
        }
    }

    private func pad(at now: MonotonicTime) {
        guard var left = layers.adaptation.padding(at: now) else { return paddingTurns = nil }
        while left > 0 {
            guard let count = unsafe video?.writePadding(.max, number: transportNumber, into: worker.scratch),
                transmit(count, isNumbered: isVideoNumbered, at: now)
            else { return }
            left -= count
        }
    }
}
