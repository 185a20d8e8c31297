import EventLoop
import GatewayMetrics
public import Refusals
import RTCP
public import StageHub
public import Wire

/// One participant's media on its way to one router: the sink of a publication, confined to its worker.
///
/// Nothing is forwarded before `open`; until then the start gate keeps the latest GOP. The leg lives until the publication
/// ends or `close` is called, and says BYE.
public final class RouterLeg: MediaSink {
    /// A track's format became known or changed: the driver writes it into the router's SDP.
    public var onFormatChanged: (TrackID, TrackFormat) -> Void = { _, _ in }
    public var onMuteChanged: (TrackID, Bool) -> Void = { _, _ in }
    public var onEnded: (SessionEnd) -> Void = { _ in }

    public private(set) var plan: LegPlan?
    /// There is a plan; asked with every run, where a look at the plan itself would copy it.
    private var isOpen = false
    /// When a packet of the router's last came: three seconds without any are one of the signs of its death.
    public private(set) var lastFeedback: MonotonicTime?

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
    private let wallOffset: Duration

    /// Until when video is left out that no keyframe begins; nil while it flows.
    private var skipsVideoUntil: MonotonicTime?

    static let reportInterval = Duration.seconds(1)
    /// Another router, or another SSRC, cannot show video before its keyframe; streams that refresh by and by have none.
    static let keyframePatience = Duration.seconds(2)
    /// The start gate's media is let go over this time.
    static let releaseSpread = Duration.milliseconds(100)

    public init(publication: Publication, socket: RouterSocket) {
        (self.publication, self.socket) = (publication, socket)
        gate = StartGate(pool: socket.pool)
        wallOffset = .nanoseconds(EventLoop.wallNow().nanosecondsSince1970 - EventLoop.monotonicNow().nanoseconds)
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
        tracks = plan.tracks.map { RouterTrack(plan: $0, socket: socket) }
        for track in plan.tracks { socket.register(self, ssrc: track.ssrc) }
        if plan.feedbackKeys != nil { for source in sources { socket.registerProtected(self, at: source) } }
        // Another router begins with a picture that can be decoded alone; where none is kept, with the next one.
        if skipsVideoUntil != nil { skipsVideoUntil = gate.holdsKeyframe ? nil : socket.loop.now + Self.keyframePatience }
        publication.announced()
        if !gate.holdsKeyframe { publication.source?.requestKeyframe(.video) }
        unsafe gate.release { packets, run in unsafe send(packets, run, spread: Self.releaseSpread) }
        reporter = socket.loop.schedule(after: Self.reportInterval, repeating: Self.reportInterval) { [unowned self] in
            for track in tracks { sendReport(of: track) }
            limitBitrate()
        }
        return true
    }

    /// Stops forwarding and says BYE; media is kept for the next `open`.
    public func close() {
        socket.loop.assertOnLoop()
        if tracks.contains(where: { $0.packetCount > 0 }) { skipsVideoUntil = socket.loop.now + Self.keyframePatience }
        for track in tracks {
            sendReport(of: track, goodbye: true)
            track.queue.removeAll()
            socket.unregister(ssrc: track.plan.ssrc)
        }
        if plan?.feedbackKeys != nil { for source in sources { socket.unregisterProtected(self, at: source) } }
        (plan, isOpen, tracks, protection, reporter) = (nil, false, [], nil, nil)
    }

    /// Where feedback may come from.
    private var sources: Set<SocketAddress> { Set(tracks.flatMap { [$0.plan.rtp, $0.plan.rtcp] }) }

    // MARK: MediaSink

    public func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun) {
        guard isOpen else { return unsafe gate.keep(packets, of: run) }
        unsafe send(packets, run, spread: nil)
    }

    public func formatChanged(_ track: TrackID, to format: TrackFormat) { onFormatChanged(track, format) }
    public func muteChanged(_ track: TrackID, isMuted: Bool) { onMuteChanged(track, isMuted) }

    public func restarted() {
        for track in tracks { track.restart() }
        gate.removeAll()
        publication.source?.requestKeyframe(.video)
    }

    public func ended(_ reason: SessionEnd) {
        close()
        onEnded(reason)
    }

    // MARK: Sending

    private func send(_ packets: UnsafeBufferPointer<MediaPacket>, _ run: MediaRun, spread: Duration?) {
        guard let first = unsafe packets.first, let track = track(run.track), !isSkipped(run) else { return }
        if track.isJump(first.sequenceNumber) { publication.source?.requestKeyframe(run.track) }
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

    private func track(_ id: TrackID) -> RouterTrack? {
        for track in tracks where track.id == id { return track }
        return nil
    }

    /// One run in 16: the clock and the histogram cost more than the sum of them is worth.
    private func measureLatency(of run: MediaRun) {
        runCount &+= 1
        guard runCount & 15 == 1 else { return }
        socket.metrics?.latency.observe(EventLoop.monotonicNow() - run.arrival)
    }

    /// Whether a leg that was moved still waits for the keyframe with which the new router's video begins.
    private func isSkipped(_ run: MediaRun) -> Bool {
        guard let deadline = skipsVideoUntil, run.track.kind == .video else { return false }
        if !run.isKeyframe, run.arrival < deadline { return true }
        skipsVideoUntil = nil
        return false
    }

    private func protect(_ batch: WireBatch) -> WireBatch {
        guard let protection else { return batch }
        protection.protect(batch, into: socket.slots, as: socket.protectedBatch)
        return socket.protectedBatch
    }

    /// SR and CNAME (RFC 3550 §6.1). Both tracks' reports come from one timeline, whatever the moment each is made.
    private func sendReport(of track: RouterTrack, goodbye: Bool = false) {
        guard let plan, track.packetCount > 0 else { return }
        let now = socket.loop.now
        guard let timestamp = publication.timeline.timestamp(of: track.plan.track, at: now) else { return }
        track.hasReported = true
        let wall = WallTime(nanosecondsSince1970: now.nanoseconds) + wallOffset
        var writer = ByteWriter(reserving: 128)
        track.senderReport(ntp: wall.ntp, timestamp: timestamp).write(into: &writer)
        SourceDescription(chunks: [.init(ssrc: track.plan.ssrc, cname: plan.cname)]).write(into: &writer)
        if goodbye { Goodbye(ssrcs: [track.plan.ssrc]).write(into: &writer) }
        guard let protection else { return socket.sendReport(writer.bytes, to: track.plan.rtcp) }
        if let bytes = protection.protect(control: writer.bytes) { socket.sendReport(bytes, to: track.plan.rtcp) }
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
        lastFeedback = now
        switch packet {
        case .receiverReport(let report): note(report.reports, of: track)
        case .senderReport(let report): note(report.reports, of: track)
        case .pictureLoss, .fullIntraRequest:
            let isAdmitted = track.bounds.admitsKeyframeRequest(at: now)
            (isAdmitted ? socket.metrics?.keyframeRequests : socket.metrics?.boundedKeyframeRequests)?.increment()
            if isAdmitted { publication.source?.requestKeyframe(track.plan.track) }
        case .bitrateLimit(let limit):
            track.bounds.limitBitrate(limit.bitsPerSecond, at: now)
            limitBitrate()
        case .nack(let nack): track.retransmit(nack, through: socket)
        case .goodbye, .sourceDescription, .extendedReport, .other: break
        }
        return true
    }

    private func note(_ reports: [ReportBlock], of track: RouterTrack) {
        guard let report = reports.first(where: { $0.ssrc == track.plan.ssrc }) else { return }
        if let plan { socket.metrics?.note(report, of: plan.router) }
    }

    /// Called with every report and every second, so that a limit is forgotten when the router falls silent.
    private func limitBitrate() {
        publication.limitBitrate(tracks.compactMap { $0.bounds.bitrateLimit(at: socket.loop.now) }.min(), for: self)
    }
}
