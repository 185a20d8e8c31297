import EventLoop
import GatewayMetrics
import RTCP
public import Refusals
public import StageHub
public import Wire

/// One participant's media on its way to one router: the sink of a publication, confined to its worker.
///
/// Nothing is forwarded before `open`; until then the start gate keeps the latest GOP. The leg lives until the publication
/// ends or `close` is called, and says BYE.
public final class RouterLeg: MediaSink {
    /// Nil while the leg is closed.
    public private(set) var plan: LegPlan?
    /// There is a plan; asked with every run, where a look at the plan itself would copy it.
    private var isOpen = false
    /// When a packet of the router's last came: three seconds without any are one of the signs of its death.
    public var lastFeedback: MonotonicTime? { tracks.compactMap(\.lastFeedback).max() }

    private let socket: RouterSocket
    /// Held until the leg is gone; the publication lets go of its sinks when it ends.
    private let publication: Publication
    private let gate: StartGate
    private var tracks: [RouterTrack] = []
    private(set) var protection: LegProtection?
    private var traffic: RouterTraffic?
    private var reporter: TimerWatch?
    private var runCount: UInt32 = 0
    /// Wall clock less monotonic clock, fixed for the leg: a step of the system's clock is no business of receivers.
    private let wallOffset = EventLoop.wallOffset()

    /// Something went out before the leg was closed: what is not in the gate begins with a keyframe at the next router.
    private var hasMoved = false

    public init(publication: Publication, socket: RouterSocket) {
        (self.publication, self.socket) = (publication, socket)
        gate = StartGate(pool: socket.pool)
    }

    /// Begins to forward: what the gate kept first, paced. A leg that was open says BYE first, and continues with the new SSRCs.
    /// - Returns: false when libsrtp refuses the keys; the leg stays closed then.
    @discardableResult
    public func open(_ plan: LegPlan) -> Bool {
        socket.loop.assertOnLoop()
        if self.plan != nil { close() }
        if let keys = plan.keys {
            protection = try? LegProtection(keys, feedback: plan.feedbackKeys)
            guard protection != nil else { return false }
        }
        (self.plan, isOpen) = (plan, true)
        traffic = socket.traffic(to: plan.router)
        tracks = plan.tracks.map { RouterTrack(plan: $0, layer: startingLayer(of: $0), socket: socket) }
        for track in plan.tracks { socket.register(self, ssrc: track.ssrc) }
        if plan.feedbackKeys != nil { for source in sources { socket.registerProtected(self, at: source) } }
        publication.announced()
        for track in tracks where track.kind == .video { beginVideo(of: track) }
        hasMoved = false
        unsafe gate.release(where: isTaken) { packets, run in unsafe send(packets, run, spread: Self.releaseSpread) }
        aimAtBest()
        reporter = socket.loop.schedule(after: Self.reportInterval, repeating: Self.reportInterval) { [unowned self] in
            for track in tracks { sendReport(of: track) }
            limitBitrate()
            requestWanted()
        }
        return true
    }

    /// Stops forwarding, with what is under way, and says BYE; media is kept for the next `open`.
    public func close() {
        socket.loop.assertOnLoop()
        if tracks.contains(where: { $0.packetCount > 0 }) { hasMoved = true }
        for track in tracks {
            track.queue.end(at: socket.loop.now)
            sendReport(of: track, and: .goodbye(Goodbye(ssrcs: [track.plan.ssrc])))
            socket.unregister(ssrc: track.plan.ssrc)
        }
        if plan?.feedbackKeys != nil { for source in sources { socket.unregisterProtected(self, at: source) } }
        (plan, isOpen, tracks, protection, reporter) = (nil, false, [], nil, nil)
        limitBitrate()
    }

    /// Of the plan's tracks, those that the router has said something about.
    var answeredTracks: [TrackPlan] { tracks.filter { $0.lastFeedback != nil }.map(\.plan) }

    /// Where feedback may come from.
    private var sources: Set<SocketAddress> { Set(tracks.flatMap { [$0.plan.rtp, $0.plan.rtcp] }) }

    // MARK: MediaSink

    public func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun) {
        guard isOpen else { return unsafe gate.keep(packets, of: run) }
        unsafe send(packets, run, spread: nil)
    }

    public func layersChanged() { aimAtBest() }

    public func restarted() {
        for track in tracks { track.restart() }
        gate.removeAll()
        let layers = isOpen ? tracks.filter { $0.kind == .video }.compactMap(\.layer) : publication.videoTracks
        for layer in layers { publication.source?.requestKeyframe(layer) }
    }

    public func ended(_ reason: SessionEnd) { close() }

    // MARK: Sending

    private func send(_ packets: UnsafeBufferPointer<MediaPacket>, _ run: MediaRun, spread: Duration?) {
        guard let first = unsafe packets.first, let track = track(taking: run, startingAt: first.timestamp) else { return }
        if track.isJump(first.sequenceNumber) {
            track.restart()
            publication.source?.requestKeyframe(run.track)
        }
        track.noteFrame(at: first.timestamp)
        let isLongFrame = packets.count >= SendQueue.pacingThreshold
        let (batch, now) = (socket.batch, socket.loop.now)
        let isHeldBack = spread != nil
        let spread = spread ?? track.spread
        var index = 0
        while index < packets.count {
            batch.removeAll()
            unsafe index += track.append(UnsafeBufferPointer(rebasing: packets[index...]), to: batch, arrival: run.arrival)
            if !track.hasReported { sendReport(of: track) }
            let outgoing = protect(batch)
            traffic?.count(outgoing)
            track.keep(outgoing, at: now)
            track.queue.send(outgoing, spread: spread, isLongFrame: isLongFrame, at: now)
        }
        if !isHeldBack { measureLatency(of: run) }
    }

    /// One run in 16: the clock and the histogram cost more than the sum of them is worth.
    private func measureLatency(of run: MediaRun) {
        runCount &+= 1
        guard runCount & 15 == 1 else { return }
        socket.measureLatency(since: run.arrival)
    }

    private func protect(_ batch: WireBatch) -> WireBatch {
        guard let protection else { return batch }
        protection.protect(batch, into: socket.slots, as: socket.protectedBatch)
        return socket.protectedBatch
    }

    /// SR and CNAME (RFC 3550 §6.1), and what follows them; nothing before a track's first packet.
    private func sendReport(of track: RouterTrack, and more: RTCPPacket? = nil) {
        guard let report = senderReport(of: track) else { return }
        track.hasReported = true
        send(.senderReport(report), of: track, and: more)
    }

    /// Of all tracks from one timeline, whatever the moment each is made.
    private func senderReport(of track: RouterTrack) -> SenderReport? {
        guard track.packetCount > 0, let layer = track.layer else { return nil }
        let now = socket.loop.now
        guard let timestamp = publication.timeline.timestamp(of: layer, at: now) else { return nil }
        let wall = WallTime(nanosecondsSince1970: now.nanoseconds) + wallOffset
        return track.senderReport(ntp: wall.ntp, timestamp: timestamp)
    }

    private func send(_ report: RTCPPacket, of track: RouterTrack, and more: RTCPPacket?) {
        guard let plan else { return }
        var writer = ByteWriter(reserving: 128)
        report.write(into: &writer)
        SourceDescription(chunks: [.init(ssrc: track.plan.ssrc, cname: plan.cname)]).write(into: &writer)
        more?.write(into: &writer)
        guard let protection else { return socket.sendReport(writer.bytes, to: track.plan.rtcp) }
        if let bytes = protection.protect(control: writer.bytes) { socket.sendReport(bytes, to: track.plan.rtcp) }
    }

    static let reportInterval = Duration.seconds(1)
    /// Another router, or another SSRC, cannot show video before its keyframe; streams that refresh by and by have none.
    static let keyframePatience = Duration.seconds(2)
    /// The start gate's media is let go over this time.
    static let releaseSpread = Duration.milliseconds(100)
}

// MARK: - Layers

extension RouterLeg {
    /// What a track begins with: a layer that the gate holds, best first.
    private func startingLayer(of track: TrackPlan) -> TrackID {
        guard track.track.kind == .video, !track.isLayer else { return track.track }
        let living = publication.layers.filter(\.isActive).map(\.track)
        return living.first { gate.holdsKeyframe(of: $0) } ?? publication.bestLayer ?? publication.videoTracks.first ?? .video
    }

    private func isTaken(_ layer: TrackID) -> Bool { tracks.contains { $0.layer == layer && !$0.isPaused } }

    /// Another router begins with a picture that can be decoded alone; where none is kept, with the next one.
    private func beginVideo(of track: RouterTrack) {
        guard let layer = track.layer, !gate.holdsKeyframe(of: layer), !track.isPaused else { return }
        if hasMoved { track.awaitKeyframe(until: socket.loop.now + Self.keyframePatience) }
        publication.source?.requestKeyframe(layer)
    }

    /// A router that takes one layer gets the best that lives, from its next keyframe on.
    private func aimAtBest() {
        guard let best = publication.bestLayer else { return }
        for track in tracks where track.kind == .video && !track.plan.isLayer && track.target != best {
            track.aim(at: best)
            requestWanted()
        }
    }

    /// Asked for again every second: an encoder may not have heard it.
    private func requestWanted() {
        for track in tracks { if let layer = track.wanted { publication.source?.requestKeyframe(layer) } }
    }

    /// The track that a run goes out on. Another layer that begins with it goes on with the numbers of the one before.
    private func track(taking run: MediaRun, startingAt timestamp: Int64) -> RouterTrack? {
        for track in tracks where track.kind == run.track.kind {
            switch track.passage(of: run) {
            case .rests: continue
            case .goesOn: break
            case .begins(let former):
                track.change(shift: former.flatMap { publication.timeline.shift(from: $0, to: run.track) })
            }
            if track.packetCount == 0, track.plan.isLayer { shareClock(of: track, startingAt: timestamp) }
            return track
        }
        return nil
    }

    /// All layers' timestamps are of one clock (docs/stage-router.md 6).
    private func shareClock(of track: RouterTrack, startingAt timestamp: Int64) {
        guard let other = tracks.first(where: { $0.plan.isLayer && $0.packetCount > 0 }), let layer = track.layer,
            let shift = other.layer.flatMap({ publication.timeline.shift(from: $0, to: layer) })
        else { return }
        track.share(clockOf: other, shift: shift, first: timestamp)
    }
}

// MARK: - Feedback

extension RouterLeg {
    /// Takes feedback about one of this leg's SSRCs.
    /// - Returns: false when it does not come from where the track's media goes.
    func receive(_ packet: RTCPPacket, about ssrc: UInt32, from source: SocketAddress) -> Bool {
        guard let track = tracks.first(where: { $0.plan.ssrc == ssrc }), [track.plan.rtp, track.plan.rtcp].contains(source)
        else { return false }
        let now = socket.loop.now
        track.lastFeedback = now
        switch packet {
        case .receiverReport(let report): note(report.reports, of: track)
        case .senderReport(let report): note(report.reports, of: track)
        case .pictureLoss, .fullIntraRequest:
            let asked = plan?.asksForAllLayers == true ? tracks.filter { $0.kind == track.kind } : [track]
            for track in asked { keyframeRequested(of: track, at: now) }
        case .bitrateLimit(let limit): keep(limit, of: track, at: now)
        case .pause(let requests): for request in requests.entries where request.ssrc == ssrc { obey(request, track, at: now) }
        case .nack(let nack): track.retransmit(nack, through: socket)
        case .goodbye, .sourceDescription, .extendedReport, .transportWide, .other: break
        }
        return true
    }

    private func keyframeRequested(of track: RouterTrack, at now: MonotonicTime) {
        let isAdmitted = track.bounds.admitsKeyframeRequest(at: now)
        (isAdmitted ? socket.metrics?.keyframeRequests : socket.metrics?.boundedKeyframeRequests)?.increment()
        if isAdmitted, let layer = track.wanted ?? track.layer { publication.source?.requestKeyframe(layer) }
    }

    /// Of layers a limit counts that is about all of them: the encoder divides one rate between them.
    private func keep(_ limit: ReceiverEstimatedMaximumBitrate, of track: RouterTrack, at now: MonotonicTime) {
        guard tracks.allSatisfy({ !$0.plan.isLayer || limit.ssrcs.contains($0.plan.ssrc) }) else { return }
        track.bounds.limitBitrate(limit.bitsPerSecond, at: now)
        limitBitrate()
    }

    /// Of layers alone: a track that goes out as one cannot be stopped by what anybody may forge.
    private func obey(_ request: StreamPauseFeedback.Entry, _ track: RouterTrack, at now: MonotonicTime) {
        guard track.plan.isLayer else { return }
        switch request.kind {
        case .pause where track.pause(request.pauseID, at: now): answerPause(request.pauseID, of: track)
        case .resume where track.resume(request.pauseID): keyframeRequested(of: track, at: now)
        case .pause, .resume, .paused, .refused: break
        }
    }

    /// PAUSED, behind an empty report where nothing was sent yet.
    private func answerPause(_ pauseID: UInt16, of track: RouterTrack) {
        let ssrc = track.plan.ssrc
        let paused = StreamPauseFeedback.Entry(
            ssrc: ssrc, kind: .paused(highestSequenceNumber: track.highestSequenceNumber), pauseID: pauseID)
        let report = senderReport(of: track).map { RTCPPacket.senderReport($0) }
        send(
            report ?? .receiverReport(ReceiverReport(ssrc: ssrc, reports: [])), of: track,
            and: .pause(StreamPauseFeedback(senderSSRC: ssrc, entries: [paused])))
    }

    private func note(_ reports: [ReportBlock], of track: RouterTrack) {
        guard let report = reports.first(where: { $0.ssrc == track.plan.ssrc }) else { return }
        if let plan { socket.metrics?.note(report, of: plan.router) }
    }

    /// Called with every limit and every second, for one to be forgotten when the router falls
    /// silent, and when the leg is closed.
    private func limitBitrate() {
        publication.limitBitrate(tracks.compactMap { $0.bounds.bitrateLimit(at: socket.loop.now) }.min(), for: self)
    }
}
