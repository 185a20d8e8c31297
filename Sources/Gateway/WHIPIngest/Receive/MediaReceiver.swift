import GatewayMetrics
import MediaContract
import RTCP
import RTP
import Refusals
import StageHub
import Wire

/// One publisher's RTP and RTCP after SRTP is gone: accounting, feedback, and runs for the hub.
///
/// Packets are gathered while a receive batch lasts, so that a frame's packets leave together; `flush` hands them on before
/// the batch's bytes go. Confined to the session's worker.
final class MediaReceiver {
    enum Outcome {
        case nothing
        /// Waits for `flush`; `isFirst` when nothing waited before.
        case gathered(isFirst: Bool)
        case refused(Refusal)
    }

    let metrics: WHIPMetrics
    var reception: PacketReception
    private var feedbackWriter: FeedbackWriter
    private var videoFlow = TrackFlow(at: .zero)
    private var audioFlow = TrackFlow(at: .zero)
    /// Where media flows while the lease is ours.
    private var outlet: MediaOutlet?
    private var gathered: GatheredRun
    /// By layer.
    private let waitingSets: [WaitingParameterSets]
    /// Whether packets wait in any of them. Asked with every packet.
    private var setsWait = false

    /// - Parameter room: its worker's.
    init(offer: AcceptedOffer, metrics: WHIPMetrics, room: RunRoom = RunRoom()) {
        self.metrics = metrics
        gathered = GatheredRun(in: room)
        reception = PacketReception(offer: offer)
        waitingSets = reception.layers.map { _ in WaitingParameterSets() }
        feedbackWriter = FeedbackWriter(maximumBitrate: offer.maximumBitrate, metrics: metrics)
    }

    /// The lease is ours: media flows into `publication` from now on.
    func begin(_ publication: Publication, inspector: ContractSession?, at now: MonotonicTime) {
        let outlet = MediaOutlet(publication, inspector, isStereo: reception.offer.audio?.isStereo ?? true)
        self.outlet = outlet
        (videoFlow, audioFlow) = (TrackFlow(at: now), TrackFlow(at: now))
        // Parameter sets may have come while somebody else had the lease; the same ones again are no news.
        for (place, layer) in reception.layers.enumerated() {
            let track = TrackID(.video, layer: UInt8(place))
            if let format = layer.format { outlet.note(format, of: track, rid: reception.rid(of: track), at: now) }
        }
        reception.wantKeyframes()
    }

    func stop() {
        outlet = nil
        gathered.removeAll()
        forgetSets()
    }

    var publication: Publication? { outlet?.publication }
    var inspector: ContractSession? { outlet?.inspector }
    var hasRTP: Bool { reception.hasRTP }
    var hasNews: Bool { reception.hasNews }
    var isMissingPackets: Bool { reception.sources.contains { $0.losses.missingCount > 0 } }
    // Asked ten times a second, of its parts: a getter of `reception` itself is given a copy of all of it.
    var canRequestKeyframe: Bool { reception.hasKeyframeRequests && reception.layers.hearRequests }
    var ignoresKeyframeRequests: Bool { !reception.hasKeyframeRequests || reception.layers.ignoreRequests }
    func lacksParameterSets(at now: MonotonicTime) -> Bool { reception.layers.lackParameterSets(at: now) }
    func wantKeyframe(of track: TrackID) { reception.wantKeyframe(of: track) }
    func limitBitrate(_ bitsPerSecond: Int?) { feedbackWriter.limitBitrate(bitsPerSecond) }
    func takeNews() -> PacketNews { reception.takeNews() }

    // MARK: - Packets

    /// Takes a plain RTP packet: `reception` says what becomes of it, and here it is done.
    func receive(_ packet: UnsafeRawBufferPointer, at now: MonotonicTime) -> Outcome {
        guard let received = unsafe reception.receive(packet, at: now) else { return .nothing }
        let outlet = outlet
        if case .late(let wasAsked) = received.arrival { noteLate(wasAsked: wasAsked) }
        if received.isMalformed { metrics.malformed.increment() }
        guard let outlet else { return .nothing }
        if let size = received.picture.size {
            outlet.note(size, of: received.track, rid: reception.rid(of: received.track), at: now)
        }
        if received.replacesFeed { startAnew(outlet.publication) }
        switch received.fate {
        case .dropped: return .nothing
        case .counted:
            outlet.count(received)
            return .nothing
        case .forwarded: return forward(received, to: outlet, at: now)
        }
    }

    private func forward(_ received: ReceivedPacket, to outlet: MediaOutlet, at now: MonotonicTime) -> Outcome {
        let (track, publication) = (received.track, outlet.publication)
        if received.picture.hasNewFormat, let format = reception.layers[Int(track.layer)].format {
            publication.setFormat(format, of: track)
        }
        if received.picture.hasIDR { reception.sawIDR() }
        // The others of a picture came no sooner than its first: they tell nothing new of the publisher's clock.
        if received.startsTimestamp { publication.timeline.observe(received.packet.timestamp, of: track, arrival: now) }
        // The contract judges every packet that is forwarded, once, however late or by RTX it came.
        if let inspector = outlet.inspector, let refusal = inspect(received.packet, of: track, by: inspector, at: now) {
            return .refused(refusal)
        }
        if received.mayStartPublish { reception.forwarded(received) }
        outlet.noteChannels(of: received)
        return gather(received, at: now)
    }

    private func inspect(
        _ packet: MediaPacket, of track: TrackID, by inspector: ContractSession, at now: MonotonicTime
    ) -> Refusal? {
        guard track.kind == .video else {
            return inspector.audioFrame(byteCount: packet.payloadByteCount, timestamp: packet.timestamp, arrival: now)
        }
        return inspector.videoPayload(
            reception.found, layer: track.layer, sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, arrival: now)
    }

    private func noteLate(wasAsked: Bool) {
        guard wasAsked else {
            publication?.counters.reordered.add(1)
            return
        }
        metrics.recovered.increment()
        publication?.counters.recovered.add(1)
    }

    /// The encoder began anew: the sinks' numbers do too.
    private func startAnew(_ publication: Publication) {
        handOver()
        forgetSets()
        publication.timeline.restart()
        publication.restarted()
    }

    // MARK: - Runs

    private func gather(_ received: ReceivedPacket, at now: MonotonicTime) -> Outcome {
        let picture = received.picture
        guard picture.content == .sets || setsWait, received.track.kind == .video else {
            return .gathered(isFirst: add(received.packet, of: received.track, picture.startsKeyframe, at: now))
        }
        return gatherBehindSets(received, at: now)
    }

    /// Parameter sets, and what follows them, wait for the slice behind them.
    private func gatherBehindSets(_ received: ReceivedPacket, at now: MonotonicTime) -> Outcome {
        let (packet, track, picture) = (received.packet, received.track, received.picture)
        let (sets, isFirst) = (waitingSets[Int(track.layer)], gathered.isEmpty)
        if let timestamp = sets.packets.first?.timestamp, timestamp != packet.timestamp {
            // It is of a picture before the one that waits.
            if received.isLate { return .gathered(isFirst: add(packet, of: track, picture.startsKeyframe, at: now)) }
            if picture.content == .sets { release(sets, of: track, startsKeyframe: false, at: now) }
        }
        if picture.content == .sets || picture.content == .other && !sets.isEmpty {
            // What was kept before may be gathered still.
            if sets.isEmpty { handOver() }
            if sets.keep(packet) {
                setsWait = true
                return .nothing
            }
        }
        let startsItself = sets.isEmpty && picture.startsKeyframe
        release(sets, of: track, startsKeyframe: picture.startsKeyframe, at: now)
        setsWait = waitingSets.contains { !$0.isEmpty }
        add(packet, of: track, startsItself, at: now)
        return .gathered(isFirst: isFirst)
    }

    private func release(_ sets: WaitingParameterSets, of track: TrackID, startsKeyframe: Bool, at now: MonotonicTime) {
        for (index, packet) in sets.packets.enumerated() { add(packet, of: track, startsKeyframe && index == 0, at: now) }
        sets.removeAll()
    }

    private func forgetSets() {
        for sets in waitingSets { sets.removeAll() }
        setsWait = false
    }

    /// - Returns: whether it is the first of its run.
    @discardableResult
    private func add(_ packet: MediaPacket, of track: TrackID, _ startsKeyframe: Bool, at now: MonotonicTime) -> Bool {
        var placement = gathered.append(packet, of: track, startsKeyframe: startsKeyframe, at: now)
        if placement == .mustWait {
            handOver()
            placement = gathered.append(packet, of: track, startsKeyframe: startsKeyframe, at: now)
        }
        if placement == .first { unmute(track, startsKeyframe: startsKeyframe, at: now) }
        return placement == .first
    }

    func flush(for entry: SessionEntry) {
        guard !gathered.isEmpty else { return }
        entry.progressed(at: gathered.run.arrival)
        handOver()
    }

    func handOver() {
        guard !gathered.isEmpty else { return }
        if let publication {
            gathered.count(in: publication.counters)
            unsafe gathered.packets.withUnsafeBufferPointer { unsafe publication.forward($0, of: gathered.run) }
        }
        gathered.removeAll()
    }

    // MARK: - Mutes

    private func unmute(_ track: TrackID, startsKeyframe: Bool, at now: MonotonicTime) {
        guard track.kind == .video else {
            if audioFlow.forwarded(at: now) { publication?.muteChanged(.audio, isMuted: false) }
            return
        }
        guard videoFlow.forwarded(at: now) else { return }
        reception.resumeKeyframes(wantsKeyframe: !startsKeyframe)
        publication?.muteChanged(.video, isMuted: false)
    }

    private func noteSilence(at now: MonotonicTime) {
        if videoFlow.fellSilent(at: now) {
            reception.pauseKeyframes()
            publication?.muteChanged(.video, isMuted: true)
        }
        if reception.offer.audio != nil, audioFlow.fellSilent(at: now) { publication?.muteChanged(.audio, isMuted: true) }
    }

    // MARK: - Feedback

    /// Sender reports feed the timeline and our report blocks. Feedback about us does not exist: we send no media.
    func receiveControl(_ compound: UnsafeRawBufferPointer, at now: MonotonicTime) {
        guard let packets = try? unsafe RTCPCompound.parse(compound.bytes) else { return }
        for case .senderReport(let report) in packets {
            guard let index = reception.index(of: report.ssrc), case .media = reception.sources[index].role else { continue }
            reception.sources[index].statistics.senderReported(report, at: now)
            guard reception.isFeeding(index) else { continue }
            let timestamp = reception.sources[index].timestamps.extend(report.rtpTimestamp)
            publication?.timeline.publisherReported(
                ntp: report.ntp, timestamp: timestamp, of: reception.sources[index].track)
        }
    }

    /// The datagrams that are due now; to be asked for every 50 ms at least.
    func feedback(at now: MonotonicTime) -> [[UInt8]] {
        let requests = feedbackWriter.requests(about: &reception, publication?.counters, at: now)
        let isReportDue = feedbackWriter.isReportDue(at: now)
        guard isReportDue || requests.parts.count > 0 else { return requests.alone }
        if isReportDue { secondPassed(at: now) }
        let compound = feedbackWriter.compound(
            requests.parts.bytes, isReportDue: isReportDue, about: &reception, publication?.counters, at: now)
        return requests.alone + [compound]
    }

    private func secondPassed(at now: MonotonicTime) {
        guard let outlet else { return }
        outlet.publication.tick(at: now)
        outlet.nameLayers()
        noteSilence(at: now)
    }

    /// The publish is over: what is still missing has never come.
    func giveUpMissing() {
        for index in reception.sources.indices where reception.sources[index].role == .media {
            reception.sources[index].losses.giveUp()
            publication?.counters.lost.add(reception.sources[index].losses.takeLost())
        }
    }
}
