import GatewayMetrics
import H264
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

    private let offer: AcceptedOffer
    let metrics: WHIPMetrics
    var reception: PacketReception
    private var bitrateLimit: Int
    private let maximumBitrate: Int
    private let ssrc: UInt32
    private var lastReport: MonotonicTime = .zero
    private var videoFlow = TrackFlow(at: .zero)
    private var audioFlow = TrackFlow(at: .zero)
    /// Where media flows while the lease is ours.
    private var outlet: Outlet?
    private var gathered = GatheredRun()

    /// One object, so that a packet finds all of it in one access.
    private final class Outlet {
        let publication: Publication
        let inspector: (any PacketInspector)?

        init(_ publication: Publication, _ inspector: (any PacketInspector)?) {
            (self.publication, self.inspector) = (publication, inspector)
        }
    }

    init(offer: AcceptedOffer, maximumBitrate: Int, metrics: WHIPMetrics) {
        (self.offer, self.metrics, self.maximumBitrate) = (offer, metrics, maximumBitrate)
        bitrateLimit = maximumBitrate
        reception = PacketReception(offer: offer)
        ssrc = UInt32.random(in: 1...UInt32.max)
    }

    /// The lease is ours: media flows into `publication` from now on.
    func begin(_ publication: Publication, inspector: (any PacketInspector)?, at now: MonotonicTime) {
        outlet = Outlet(publication, inspector)
        (videoFlow, audioFlow) = (TrackFlow(at: now), TrackFlow(at: now))
        wantKeyframes()
    }

    func stop() {
        outlet = nil
        gathered.removeAll()
    }

    var publication: Publication? { outlet?.publication }
    var hasRTP: Bool { reception.hasRTP }
    var hasNews: Bool { reception.hasNews }
    var isMissingPackets: Bool { reception.sources.contains { $0.losses.missingCount > 0 } }
    var canRequestKeyframe: Bool { offer.video.hasFeedback("nack pli") && !reception.layers.allSatisfy(\.keyframes.isDeaf) }
    /// Its keyframes come in its own time alone.
    var ignoresKeyframeRequests: Bool {
        let layers = reception.layers.filter(\.isDecodable)
        return !offer.video.hasFeedback("nack pli") || !layers.isEmpty && layers.allSatisfy(\.keyframes.ignoresRequests)
    }
    func wantKeyframe(of track: TrackID) {
        guard reception.layers.indices.contains(Int(track.layer)) else { return }
        reception.layers[Int(track.layer)].keyframes.want()
    }
    private func wantKeyframes() {
        for index in reception.layers.indices { reception.layers[index].keyframes.want() }
    }
    func limitBitrate(_ bitsPerSecond: Int?) { bitrateLimit = min(maximumBitrate, bitsPerSecond ?? maximumBitrate) }
    func takeNews() -> PacketNews { reception.takeNews() }

    // MARK: - Packets

    func receive(_ packet: UnsafeRawBufferPointer, at now: MonotonicTime) -> Outcome {
        guard let received = unsafe reception.receive(packet, at: now) else { return .nothing }
        let outlet = outlet
        if case .late(let wasAsked, _) = received.arrival { noteLate(wasAsked: wasAsked) }
        if received.isMalformed { metrics.malformed.increment() }
        guard let outlet else { return .nothing }
        let publication = outlet.publication
        if let size = received.pictureSize { note(size, of: received.track, in: publication, at: now) }
        if received.replacesFeed { startAnew(publication) }
        if received.hasNewFormat, let format = reception.layers[Int(received.track.layer)].format {
            publication.setFormat(format, of: received.track)
        }
        guard received.goesOn else {
            countUnforwarded(received, in: publication.counters)
            return .nothing
        }
        if received.hasIDR { reception.sawIDR() }
        let track = received.track
        // The others of a picture came no sooner than its first: they tell nothing new of the publisher's clock.
        if received.startsTimestamp { publication.timeline.observe(received.packet.timestamp, of: track, arrival: now) }
        // The contract judges every packet that goes on, once, however late or by RTX it came.
        if let inspector = outlet.inspector, let refusal = inspect(received.packet, of: track, by: inspector, at: now) {
            return .refused(refusal)
        }
        if received.mayStartPublish { reception.forwarded(received) }
        return gather(received, at: now)
    }

    private func note(_ size: PictureSize, of track: TrackID, in publication: Publication, at now: MonotonicTime) {
        publication.setPictureSize(
            width: size.width, height: size.height, of: track, rid: reception.rid(of: track), at: now)
        nameLayers(of: publication)
    }

    /// For the contract's sentences.
    private func nameLayers(of publication: Publication) { outlet?.inspector?.layerNames = publication.layerNames }

    private func inspect(
        _ packet: MediaPacket, of track: TrackID, by inspector: any PacketInspector, at now: MonotonicTime
    ) -> Refusal? {
        guard track.kind == .video else { return inspector.inspectAudio(packet, arrival: now) }
        return inspector.inspectVideo(packet, reception.found, layer: track.layer, arrival: now)
    }

    private func noteLate(wasAsked: Bool) {
        guard wasAsked else {
            publication?.counters.reordered.add(1)
            return
        }
        metrics.recovered.increment()
        publication?.counters.recovered.add(1)
    }

    /// Of a source that does not go on; what goes on is counted with its run.
    private func countUnforwarded(_ received: ReceivedPacket, in counters: PublishCounters) {
        let payload = unsafe received.packet.payload
        guard !received.isTooLate, unsafe !payload.isEmpty else { return }
        counters[received.track].count(byteCount: payload.count, endsFrame: received.endsFrame)
    }

    /// The encoder began anew: the sinks' numbers do too.
    private func startAnew(_ publication: Publication) {
        handOver()
        publication.timeline.restart()
        for sink in publication.sinks { sink.restarted() }
    }

    private func unmute(_ track: TrackID, startsKeyframe: Bool, at now: MonotonicTime) {
        guard track.kind == .video else {
            if audioFlow.forwarded(at: now) { tellSinks(.audio, isMuted: false) }
            return
        }
        guard videoFlow.forwarded(at: now) else { return }
        for index in reception.layers.indices { reception.layers[index].keyframes.resume(wantsKeyframe: !startsKeyframe) }
        tellSinks(.video, isMuted: false)
    }

    private func tellSinks(_ track: TrackID, isMuted: Bool) {
        for sink in publication?.sinks ?? [] { sink.muteChanged(track, isMuted: isMuted) }
    }

    // MARK: - Runs

    private func gather(_ received: ReceivedPacket, at now: MonotonicTime) -> Outcome {
        var placement = gathered.append(received, at: now)
        if placement == .mustWait {
            handOver()
            placement = gathered.append(received, at: now)
        }
        if placement == .first { unmute(received.track, startsKeyframe: received.startsKeyframe, at: now) }
        return .gathered(isFirst: placement == .first)
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
}

/// What we tell the publisher (RFC 4585, docs/design.md 5.6), and what its reports tell us.
extension MediaReceiver {
    /// Sender reports feed the timeline and our report blocks. Feedback about us does not exist: we send no media.
    func receiveControl(_ compound: UnsafeRawBufferPointer, at now: MonotonicTime) {
        guard let packets = try? unsafe RTCPCompound.parse(compound.bytes) else { return }
        for case .senderReport(let report) in packets {
            guard let index = reception.index(of: report.ssrc), case .media = reception.sources[index].role else { continue }
            reception.sources[index].statistics.senderReported(report, at: now)
            guard reception.sources[index].timestamps.last != nil else { continue }
            let timestamp = reception.sources[index].timestamps.extend(report.rtpTimestamp)
            publication?.timeline.publisherReported(
                ntp: report.ntp, timestamp: timestamp, of: reception.sources[index].track)
        }
    }

    /// The datagrams that are due now: requests for lost packets at once, transport feedback every 50 to 100 ms, reports each
    /// second.
    ///
    /// Where reduced-size RTCP was agreed (RFC 5506) requests for lost packets go alone: ffmpeg reads no others. A report stands
    /// before everything else (RFC 3550 §6.1).
    func feedback(at now: MonotonicTime) -> [[UInt8]] {
        var (datagrams, parts) = lossRequests(at: now)
        if reception.transportID != nil, let media = reception.sources.first,
            let feedback = reception.transport.feedback(at: now, senderSSRC: ssrc, mediaSSRC: media.ssrc)
        {
            feedback.write(into: &parts)
        }
        requestKeyframes(at: now, into: &parts)
        let isReportDue = now - lastReport >= Self.reportPeriod
        guard isReportDue || parts.count > 0 else { return datagrams }
        if isReportDue { noteSilence(at: now) }
        datagrams.append(compound(parts.bytes, isReportDue: isReportDue, at: now))
        return datagrams
    }

    private func requestKeyframes(at now: MonotonicTime, into parts: inout ByteWriter) {
        guard canRequestKeyframe else { return }
        for layer in reception.layers.indices {
            guard let media = mediaSource(ofLayer: layer), reception.layers[layer].keyframes.isDue(at: now) else { continue }
            PictureLossIndication(senderSSRC: ssrc, mediaSSRC: reception.sources[media].ssrc).write(into: &parts)
            metrics.keyframeRequests.increment()
        }
    }

    private func compound(_ parts: [UInt8], isReportDue: Bool, at now: MonotonicTime) -> [UInt8] {
        var writer = ByteWriter(reserving: 256 + parts.count)
        var blocks: [ReportBlock] = []
        if isReportDue {
            lastReport = now
            for index in reception.sources.indices where reception.sources[index].statistics.received > 0 {
                blocks.append(reception.sources[index].statistics.report(of: reception.sources[index].ssrc, at: now))
                // Retransmissions tell how long the way is; before any, the handshake did.
                if let roundTrip = reception.sources[index].losses.roundTrip {
                    publication?.counters.measured(roundTrip: roundTrip)
                }
            }
        }
        ReceiverReport(ssrc: ssrc, reports: blocks).write(into: &writer)
        if isReportDue {
            SourceDescription(chunks: [.init(ssrc: ssrc, cname: "stagedoor")]).write(into: &writer)
            let media = reception.layers.indices.compactMap { mediaSource(ofLayer: $0) }
            if offer.video.hasFeedback("goog-remb"), !media.isEmpty {
                ReceiverEstimatedMaximumBitrate(
                    senderSSRC: ssrc, bitsPerSecond: UInt64(bitrateLimit), ssrcs: media.map { reception.sources[$0].ssrc }
                ).write(into: &writer)
            }
        }
        writer.write(contentsOf: parts)
        return writer.bytes
    }

    /// NACK for every source but those that do not answer: whole datagrams, and parts of a compound.
    private func lossRequests(at now: MonotonicTime) -> (alone: [[UInt8]], parts: ByteWriter) {
        var (alone, parts) = ([[UInt8]](), ByteWriter())
        for index in reception.sources.indices where reception.sources[index].role == .media {
            let track = reception.sources[index].track
            var numbers: [UInt16] = []
            let section = track.kind == .video ? offer.video : offer.audio
            if section?.hasFeedback("nack") == true {
                reception.sources[index].losses.due(at: now, into: &numbers)
            } else {
                // Nobody is asked (Opus of most encoders): what was only reordered still comes.
                reception.sources[index].losses.expire(at: now)
            }
            if countLost(of: index) > 0, track.kind == .video { wantKeyframe(of: track) }
            guard !numbers.isEmpty, reception.sources[index].isAnswering else { continue }
            reception.sources[index].unansweredRequests += numbers.count
            metrics.nacks.increment(by: numbers.count)
            let request = GenericNACK(senderSSRC: ssrc, mediaSSRC: reception.sources[index].ssrc, sequenceNumbers: numbers)
            guard section?.hasReducedSizeRTCP == true else {
                request.write(into: &parts)
                continue
            }
            var datagram = ByteWriter(reserving: 64)
            request.write(into: &datagram)
            alone.append(datagram.bytes)
        }
        return (alone, parts)
    }

    /// Counts what a source has lost since it was last asked.
    private func countLost(of index: Int) -> Int {
        let lost = reception.sources[index].losses.takeLost()
        if lost > 0 { publication?.counters.lost.add(lost) }
        return lost
    }

    /// The publish is over: what is still missing has never come.
    func conclude() {
        for index in reception.sources.indices where reception.sources[index].role == .media {
            reception.sources[index].losses.giveUp()
            _ = countLost(of: index)
        }
    }

    /// The index of a layer's media source, once something came from it.
    private func mediaSource(ofLayer layer: Int) -> Int? {
        reception.sources.indices.last {
            reception.sources[$0].track == TrackID(.video, layer: UInt8(layer)) && reception.sources[$0].role == .media
                && reception.sources[$0].lastArrival != .zero
        }
    }

    private func noteSilence(at now: MonotonicTime) {
        guard let publication else { return }
        publication.tick(at: now)
        nameLayers(of: publication)
        if videoFlow.fellSilent(at: now) {
            for index in reception.layers.indices { reception.layers[index].keyframes.pause() }
            tellSinks(.video, isMuted: true)
        }
        if offer.audio != nil, audioFlow.fellSilent(at: now) { tellSinks(.audio, isMuted: true) }
    }

    private static let reportPeriod: Duration = .seconds(1)
}
