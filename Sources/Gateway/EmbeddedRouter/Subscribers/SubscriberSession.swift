import Admission
import EventLoop
import GatewayMetrics
import OpenSSL
import RTCP
import Refusals
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
    private var budget = FeedbackBudget()
    private var requests = RetransmissionRequests()
    /// The next turn of what was asked for; nil while nothing waits.
    private var requestTurn: TimerWatch?
    private var isReady = false
    /// Video starts at a keyframe, and again after a gap that the publisher's worker made.
    private var awaitsKeyframe = true
    private var statistics: SubscriberStatistics
    private var sentByteCount = 0
    private var framesBefore = 0
    private var lastReport = MonotonicTime.zero

    init(entry: SubscriberEntry, transport: PeerTransport, worker: EmbeddedRouterWorker) {
        (self.entry, self.transport, self.worker) = (entry, transport, worker)
        statistics = SubscriberStatistics(
            sessionID: entry.transport.id, stageID: entry.watched.stageID, participantID: entry.watched.participantID,
            subscriberID: entry.grant.participantID)
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
        worker.attach(self)
    }

    func transportEnded(_ reason: SessionEnd) {
        isReady = false
        requestTurn = nil
        worker.detach(self)
    }

    func end(_ reason: SessionEnd) { transport.end(reason) }

    // MARK: - Sending

    /// Sends what of a block this subscriber takes. Nothing here waits, and nothing that fails ends the session.
    func send(_ block: MediaBlock, epoch: UInt64, at now: MonotonicTime) {
        guard isReady else { return }
        if block.kind == .audio { return send(block, epoch, &audio, at: now) }
        if awaitsKeyframe {
            guard block.isKeyframe else { return }
            awaitsKeyframe = false
        }
        send(block, epoch, &video, at: now)
    }

    private func send(_ block: MediaBlock, _ epoch: UInt64, _ track: inout SubscriberTrack?, at now: MonotonicTime) {
        guard track != nil else { return }
        track?.begin(block, epoch: epoch)
        for packet in block.packets {
            guard let count = unsafe track?.write(packet, of: block, into: worker.scratch), transmit(count) else { continue }
            budget.sent(at: now)
            statistics.packets += 1
            worker.context.metrics.packets.increment()
        }
        if track?.hasReported == false { report(&track, at: now) }
    }

    /// Protects what is written in the worker's scratch and sends it.
    private func transmit(_ count: Int) -> Bool {
        guard let length = unsafe transport.protect(worker.scratch, count: count) else { return false }
        unsafe transport.send(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(worker.scratch)[..<length]))
        sentByteCount += length
        return true
    }

    private func report(_ track: inout SubscriberTrack?, at now: MonotonicTime) {
        var writer = ByteWriter(reserving: 64)
        let isWritten = track?.writeReport(at: now, wall: EventLoop.wallNow(), into: &writer) ?? false
        if isWritten { transport.sendControl(writer.bytes) }
    }

    /// The publisher's numbers began anew, or a piece is missing: decoding goes on at the next keyframe.
    func placeLost() { awaitsKeyframe = true }

    // MARK: - Feedback

    func receiveMedia(_ packet: UnsafeRawBufferPointer, at now: MonotonicTime) {}
    func flush() {}

    func receiveControl(_ compound: UnsafeRawBufferPointer, at now: MonotonicTime) {
        guard let packets = try? unsafe RTCPCompound.parse(compound.bytes) else { return }
        for packet in packets {
            switch packet {
            case .receiverReport(let report): note(report.reports, at: now)
            case .senderReport(let report): note(report.reports, at: now)
            case .pictureLoss(let request) where request.mediaSSRC == entry.sources.video: keyframeWanted(at: now)
            case .fullIntraRequest: keyframeWanted(at: now)
            case .nack(let nack) where nack.mediaSSRC == entry.sources.video: requests.add(nack)
            default: break
            }
        }
        if !requests.isEmpty, requestTurn == nil { serveRequests(at: now) }
    }

    private func keyframeWanted(at now: MonotonicTime) {
        if budget.admitsKeyframeRequest(at: now) { worker.requestKeyframe(for: self) }
    }

    /// Sends again what was asked for, is kept and within the budget: a part at once, the rest in turns of its own.
    private func serveRequests(at now: MonotonicTime) {
        guard isReady, video != nil, budget.admitsRetransmission(at: now) else { return requests.removeAll() }
        requests.serve { retransmit($0, at: now) }
        guard !requests.isEmpty else { return }
        requestTurn = transport.loop.schedule(after: RetransmissionRequests.turnInterval) { [unowned self] in
            requestTurn = nil
            serveRequests(at: transport.loop.now)
        }
    }

    private func retransmit(_ sequenceNumber: UInt16, at now: MonotonicTime) -> Bool {
        guard budget.admitsRetransmission(at: now), let number = video?.publisherNumber(of: sequenceNumber),
            let (block, packet) = worker.kept(number, for: self),
            let count = unsafe video?.writeRetransmission(packet, sentAs: sequenceNumber, of: block, into: worker.scratch),
            transmit(count)
        else { return false }
        budget.retransmitted(at: now)
        statistics.retransmissions += 1
        worker.context.metrics.retransmissions.increment()
        return true
    }

    private func note(_ blocks: [ReportBlock], at now: MonotonicTime) {
        var lost: Int64 = 0
        for block in blocks where [entry.sources.video, entry.sources.audio].contains(block.ssrc) {
            lost += Int64(max(0, block.cumulativeLost))
            guard block.lastSenderReport != 0 else { continue }
            let compact = UInt32(truncatingIfNeeded: EventLoop.wallNow().ntp >> 16)
            let ticks = compact &- block.lastSenderReport &- block.delaySinceLastSenderReport
            // A negative one, from clocks that were set, would look like hours.
            if ticks < 0x8000_0000 { statistics.roundTripTime = .nanoseconds(Int64(ticks) * 1_000_000_000 / 65_536) }
        }
        statistics.lost = lost
    }

    // MARK: - Time

    func tick(at now: MonotonicTime, isSlow: Bool) {
        guard isSlow, now - lastReport >= Self.reportPeriod else { return }
        report(&video, at: now)
        report(&audio, at: now)
        if lastReport != .zero {
            let elapsed = (now - lastReport).inSeconds
            let frames = video?.frameCount ?? 0
            statistics.bitsPerSecond = Int(Double(sentByteCount * 8) / elapsed)
            statistics.framesPerSecond = Int((Double(frames - framesBefore) / elapsed).rounded())
            framesBefore = frames
            worker.context.registry.note(statistics)
        }
        (sentByteCount, lastReport) = (0, now)
    }

    private static let reportPeriod: Duration = .seconds(1)
}
