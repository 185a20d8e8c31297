import Admission
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
    private unowned let transport: PeerTransport
    private unowned let worker: EmbeddedRouterWorker
    private var video: SubscriberTrack?
    private var audio: SubscriberTrack?
    /// Whose pictures go on, and whose are waited for.
    private var layers = LayerSwitch()
    private var adaptation: ViewerAdaptation
    private var budget = FeedbackBudget()
    private var requests = RetransmissionRequests()
    /// The next turn of what was asked for; nil while nothing waits.
    private var requestTurn: TimerWatch?
    /// Turns of padding, while the way is tried.
    private var paddingTurns: TimerWatch?
    private var isReady = false
    /// As the desk shows it.
    private var state: LayerState
    private var toldState = MonotonicTime.zero
    private var statistics: SubscriberStatistics
    private var sentByteCount = 0
    private var soundByteCount = 0
    private var framesBefore = 0
    private var octetsBefore: (video: UInt32, sound: UInt32) = (0, 0)
    /// What receiver reports say is missing, by source, and of all when it was measured last.
    private var missing: [UInt32: Int64] = [:]
    private var missingBefore: Int64 = 0
    private var packetsBefore: UInt64 = 0
    private var lastReport = MonotonicTime.zero
    /// When it has watched for as long as it may.
    private var watchesUntil = MonotonicTime.zero

    init(entry: SubscriberEntry, transport: PeerTransport, worker: EmbeddedRouterWorker) {
        (self.entry, self.transport, self.worker) = (entry, transport, worker)
        statistics = SubscriberStatistics(
            sessionID: entry.transport.id, stageID: entry.watched.stageID, participantID: entry.watched.participantID,
            subscriberID: entry.grant.participantID)
        adaptation = ViewerAdaptation(initial: entry.initialLayer, wish: entry.desk.wish)
        state = entry.desk.state
        func track(_ kind: MediaKind) -> SubscriberTrack? {
            entry.offer.section(kind).map {
                SubscriberTrack($0, entry.sources, random: (Random.integer(), Random.integer()))
            }
        }
        (video, audio) = (track(.video), track(.audio))
    }

    var wantsEveryTick: Bool { false }

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
        adaptation.layers = layers ?? []
        state.layers = layers
        if layers != nil { aim() }
    }

    /// Takes what is chosen now for what is sent: at the next keyframe of that layer.
    private func aim() {
        let now = transport.loop.now
        adaptation.update(at: now)
        let target = video == nil ? nil : adaptation.target
        if target != layers.target {
            layers.aim(at: target)
            // Sound alone, or the way is so narrow that what goes on would keep the next layer from coming. What is left out
            // is no loss.
            if target == nil || isChoked(at: now) {
                layers.placeLost()
                video?.change(shift: 0)
            }
            worker.wantsChanged(of: self)
        }
        if let wanted = layers.wanted { keyframeWanted(of: wanted, at: now) }
    }

    private func isChoked(at now: MonotonicTime) -> Bool {
        let present = adaptation.layers.first { $0.track == layers.current }
        return present.map { adaptation.isChoked(by: $0.bitsPerSecond, at: now) } ?? false
    }

    func want(_ layers: inout LayerSet) { layers.insert(self.layers) }

    /// The publisher's numbers began anew, or a piece is missing: decoding goes on at the next keyframe.
    func placeLost() { layers.placeLost() }

    // MARK: - Sending

    /// Sends what of a block this subscriber takes. Nothing here waits, and nothing that fails ends the session.
    func send(_ block: MediaBlock, epoch: UInt64, at now: MonotonicTime) {
        guard isReady else { return }
        if block.track.kind == .audio {
            let before = sentByteCount
            send(block, epoch, &audio, at: now)
            return soundByteCount += sentByteCount - before
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
        statistics.layerSwitches += 1
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
            statistics.packets += 1
            worker.context.metrics.packets.increment()
        }
        if track?.hasReported == false { report(&track, at: now) }
    }

    private var isVideoNumbered: Bool { video?.isNumberedTransportWide == true }
    private var transportNumber: UInt16 { UInt16(truncatingIfNeeded: adaptation.estimate.sent.next) }

    /// Protects what is written in the worker's scratch and sends it.
    private func transmit(_ count: Int, isNumbered: Bool, at now: MonotonicTime) -> Bool {
        guard let length = unsafe transport.protect(worker.scratch, count: count) else { return false }
        unsafe transport.send(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(worker.scratch)[..<length]))
        sentByteCount += length
        if isNumbered { adaptation.sent(byteCount: length, at: now) }
        return true
    }

    private func report(_ track: inout SubscriberTrack?, at now: MonotonicTime) {
        var writer = ByteWriter(reserving: 64)
        let isWritten = track?.writeReport(at: now, wall: EventLoop.wallNow(), into: &writer) ?? false
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
            case .transportWide(let feedback): adaptation.received(feedback, at: now)
            case .bitrateLimit(let limit): adaptation.limited(to: limit.bitsPerSecond, at: now)
            case .pictureLoss(let request) where request.mediaSSRC == entry.sources.video: pictureLost(at: now)
            case .fullIntraRequest: pictureLost(at: now)
            case .nack(let nack) where nack.mediaSSRC == entry.sources.video: requests.add(nack)
            default: break
            }
        }
        if !requests.isEmpty, requestTurn == nil { serveRequests(at: now) }
        if adaptation.target != layers.target { aim() }
    }

    private func pictureLost(at now: MonotonicTime) {
        if let layer = layers.wanted ?? layers.current { keyframeWanted(of: layer, at: now) }
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
        budget.admitsRetransmission(of: adaptation.estimate.bitsPerSecond(at: now), at: now)
    }

    private func retransmit(_ sequenceNumber: UInt16, at now: MonotonicTime) -> Bool {
        guard admitsRetransmission(at: now), let number = video?.publisherNumber(of: sequenceNumber),
            let layer = layers.flowing, let (block, packet) = worker.kept(number, of: layer, for: self),
            let count = unsafe video?.writeRetransmission(
                packet, sentAs: sequenceNumber, of: block, number: transportNumber, into: worker.scratch),
            transmit(count, isNumbered: isVideoNumbered, at: now)
        else { return false }
        budget.retransmitted(at: now)
        statistics.retransmissions += 1
        worker.context.metrics.retransmissions.increment()
        return true
    }

    private func note(_ blocks: [ReportBlock], at now: MonotonicTime) {
        for block in blocks where [entry.sources.video, entry.sources.audio].contains(block.ssrc) {
            missing[block.ssrc] = Int64(max(0, block.cumulativeLost))
            if block.ssrc == entry.sources.video || layers.target == nil {
                adaptation.reported(fractionLost: block.fractionLost, at: now)
            }
            guard block.lastSenderReport != 0 else { continue }
            let compact = UInt32(truncatingIfNeeded: EventLoop.wallNow().ntp >> 16)
            let ticks = compact &- block.lastSenderReport &- block.delaySinceLastSenderReport
            // A negative one, from clocks that were set, would look like hours.
            if ticks < 0x8000_0000 { statistics.roundTripTime = .nanoseconds(Int64(ticks) * 1_000_000_000 / 65_536) }
        }
        statistics.lost = missing.values.reduce(0, +)
    }

    // MARK: - Time

    func tick(at now: MonotonicTime, isSlow: Bool) {
        guard isSlow else { return }
        if isReady, now >= watchesUntil { return end(.refused(Refusal(.watchedTooLong))) }
        adaptation.wish = entry.desk.wish
        aim()
        tryWay(at: now)
        tellState(at: now)
        guard now - lastReport >= Self.reportPeriod else { return }
        report(&video, at: now)
        report(&audio, at: now)
        if lastReport != .zero { measure(over: (now - lastReport).inSeconds) }
        (sentByteCount, soundByteCount, lastReport) = (0, 0, now)
    }

    /// Not more than twice a second, whatever happens.
    private func tellState(at now: MonotonicTime) {
        guard now - toldState >= Self.statePeriod else { return }
        (state.current, state.choice, state.wish) = (
            layers.target == nil ? nil : layers.current, adaptation.choice, adaptation.wish
        )
        state.estimate = adaptation.estimate.bitsPerSecond(at: now)
        statistics.layer = state.name(of: state.current)
        entry.desk.tell(state)
        toldState = now
    }

    private func measure(over elapsed: Double) {
        let frames = video?.frameCount ?? 0
        adaptation.soundBitsPerSecond = Int(Double(soundByteCount * 8) / elapsed)
        statistics.bitsPerSecond = Int(Double(sentByteCount * 8) / elapsed)
        let octets = (video: video?.octetCount ?? 0, sound: audio?.octetCount ?? 0)
        statistics.videoBitsPerSecond = Int(Double(octets.video &- octetsBefore.video) * 8 / elapsed)
        statistics.soundBitsPerSecond = Int(Double(octets.sound &- octetsBefore.sound) * 8 / elapsed)
        octetsBefore = octets
        adaptation.maximumBitsPerSecond = worker.context.allowances.share(
            of: entry.viewer, session: entry.transport.id, taking: statistics.bitsPerSecond)
        statistics.framesPerSecond = Int((Double(frames - framesBefore) / elapsed).rounded())
        statistics.estimatedBitsPerSecond = state.estimate
        let (packets, lost) = (statistics.packets - packetsBefore, max(0, statistics.lost - missingBefore))
        statistics.lossRatio = packets > 0 ? min(1, Double(lost) / Double(packets)) : nil
        (framesBefore, packetsBefore, missingBefore) = (frames, statistics.packets, statistics.lost)
        worker.context.registry.note(statistics)
    }

    // MARK: - Trying the way

    private func tryWay(at now: MonotonicTime) {
        guard isReady, paddingTurns == nil, adaptation.beginsTry(at: now) else { return }
        let interval = ProbePlan.turnInterval
        paddingTurns = transport.loop.schedule(after: interval, repeating: interval) { [unowned self] in
            pad(at: transport.loop.now)
        }
    }

    private func pad(at now: MonotonicTime) {
        guard var left = adaptation.padding(at: now) else { return paddingTurns = nil }
        while left > 0 {
            guard let count = unsafe video?.writePadding(.max, number: transportNumber, into: worker.scratch),
                transmit(count, isNumbered: isVideoNumbered, at: now)
            else { return }
            left -= count
        }
    }

    private static let reportPeriod: Duration = .seconds(1)
    private static let statePeriod: Duration = .milliseconds(500)
}
