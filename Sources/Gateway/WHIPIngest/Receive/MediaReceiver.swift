import GatewayMetrics
import MediaContract
import RTCP
import RTP
import Refusals
import SDP
import StageHub
import Wire

/// One publisher's RTP and RTCP after SRTP is gone: accounting, feedback, layer selection, and runs for the hub.
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

    /// What packets have brought beside media, for the session to pass on.
    struct News {
        /// Sources that came for the first time.
        var sources: [UInt32] = []
        /// Steps of the story that were reached.
        var steps: [SessionStory.Step] = []
        /// The publish has really started: told once.
        var hasStarted = false
    }

    let offer: AcceptedOffer
    let metrics: WHIPMetrics
    /// At most a dozen: the one of a packet is found sooner by looking than by hashing.
    var sources: [RTPSource] = []
    var selector: LayerSelector
    var keyframes = KeyframeRequests()
    var transport = TransportArrivals()
    var bitrateLimit: Int
    let maximumBitrate: Int
    let ssrc: UInt32
    var lastReport: MonotonicTime = .zero
    var lastForwarded: [MonotonicTime] = [.zero, .zero]
    var isMuted = [false, false]
    private(set) var publication: Publication?
    private var inspector: (any PacketInspector)?
    private var gathered = GatheredRun()
    private var parameterSets = ParameterSetKeeper()
    private var news = News()
    /// Asked for with every packet, `takeNews` a few times in a session.
    private(set) var hasNews = false
    private(set) var hasRTP = false
    private var hasIDR = false
    private var gate = PublishGate(needsAudio: false)
    private var keyframeTimestamp: Int64?
    private let isSimulcast: Bool
    /// The source that feeds video and audio, by its place in `sources`; without simulcast a newer one replaces it.
    private var videoFeed: Int?
    private var audioFeed: Int?
    let transportID: UInt8?

    init(offer: AcceptedOffer, maximumBitrate: Int, metrics: WHIPMetrics) {
        (self.offer, self.metrics, self.maximumBitrate) = (offer, metrics, maximumBitrate)
        bitrateLimit = maximumBitrate
        selector = LayerSelector(layerCount: max(1, offer.video.rids.count))
        isSimulcast = offer.video.rids.count > 1
        transportID =
            offer.video.identifier(of: HeaderExtensionMap.transportWideCC)
            ?? offer.audio?.identifier(of: HeaderExtensionMap.transportWideCC)
        ssrc = UInt32.random(in: 1...UInt32.max)
        announceSources()
    }

    /// The lease is ours: media flows into `publication` from now on.
    func begin(_ publication: Publication, inspector: (any PacketInspector)?) {
        (self.publication, self.inspector) = (publication, inspector)
        keyframes.want()
    }

    func stop() {
        publication = nil
        gathered.removeAll()
    }

    var isMissingPackets: Bool { sources.contains { $0.losses.missingCount > 0 } }
    var canRequestKeyframe: Bool { !keyframes.isDeaf && offer.video.hasFeedback("nack pli") }
    func wantKeyframe() { keyframes.want() }
    func limitBitrate(_ bitsPerSecond: Int?) { bitrateLimit = min(maximumBitrate, bitsPerSecond ?? maximumBitrate) }

    func takeNews() -> News {
        defer { (news, hasNews) = (News(), false) }
        return news
    }

    // MARK: - Packets

    func receive(_ packet: UnsafeRawBufferPointer, at now: MonotonicTime) -> Outcome {
        guard let header = try? RTPHeader(parsing: packet.bytes) else { return .nothing }
        if !hasRTP {
            hasRTP = true
            tell(.firstRTP)
        }
        if let transportID, let extensions = header.extensions, let range = extensions.range(of: transportID, in: packet.bytes),
            range.count == 2
        {
            transport.received(UInt16(packet[range.lowerBound]) << 8 | UInt16(packet[range.lowerBound + 1]), at: now)
        }
        guard let index = index(of: header.ssrc) ?? place(header, packet) else { return .nothing }
        let isNew = sources[index].heard(at: now)
        let payload = UnsafeRawBufferPointer(rebasing: packet[header.payload(inPacketOf: packet.count)])
        let outcome =
            switch sources[index].role {
            case .media:
                accept(index, header.sequenceNumber, header.timestamp, header.marker, payload, isRetransmission: false, at: now)
            case .retransmission(let media): acceptRetransmission(media, header, payload, at: now)
            }
        if isNew {
            news.sources.append(header.ssrc)
            hasNews = true
        }
        return outcome
    }

    private func tell(_ step: SessionStory.Step) {
        news.steps.append(step)
        hasNews = true
    }

    /// RTX carries the original sequence number before the payload (RFC 4588 §4).
    private func acceptRetransmission(
        _ media: Int, _ header: RTPHeader, _ payload: UnsafeRawBufferPointer, at now: MonotonicTime
    ) -> Outcome {
        guard payload.count > 2 else { return .nothing }  // padding that probes the bandwidth
        let original = UInt16(payload[0]) << 8 | UInt16(payload[1])
        return accept(
            media, original, header.timestamp, header.marker, UnsafeRawBufferPointer(rebasing: payload[2...]),
            isRetransmission: true,
            at: now)
    }

    private func accept(
        _ index: Int, _ number: UInt16, _ timestamp: UInt32, _ marker: Bool, _ payload: UnsafeRawBufferPointer,
        isRetransmission: Bool, at now: MonotonicTime
    ) -> Outcome {
        let track = sources[index].track
        guard let entry = sources[index].take(number, timestamp, isRetransmission: isRetransmission, at: now) else {
            return .nothing
        }
        if case .late(let wasAsked, let age) = entry.arrival {
            if wasAsked { metrics.recovered.increment() }
            if let counters = publication?.counters { (wasAsked ? counters.recovered : counters.reordered).add(1) }
            guard age <= Self.maximumLateness else { return .nothing }
        }
        guard !payload.isEmpty else { return .nothing }
        publication?.counters[track].count(byteCount: payload.count, endsFrame: marker || track.kind == .audio)
        let media = MediaPacket(
            sequenceNumber: entry.sequenceNumber, timestamp: entry.timestamp, marker: marker, payload: payload)
        return forward(media, from: index, track, at: now)
    }

    /// Duplicates are gone by here: the contract judges every packet that goes on, once, however late or by RTX it came.
    private func forward(_ packet: MediaPacket, from index: Int, _ sourceTrack: TrackID, at now: MonotonicTime) -> Outcome {
        var packet = packet
        var startsKeyframe = false
        let isVideo = sourceTrack.kind == .video
        guard feeds(index, isVideo: isVideo) else { return .nothing }
        if isVideo {
            let inspection = PayloadInspection(packet.payload)
            if let set = inspection.sequenceSet { noteSize(of: index, by: set) }
            if isSimulcast {
                let (layer, pixelCount) = (sourceTrack.layer, sources[index].pixelCount)
                guard
                    selector.admits(
                        &packet, layer: layer, startsKeyframe: inspection.startsKeyframe, pixelCount: pixelCount, at: now)
                else { return .nothing }
            }
            startsKeyframe = noteKeyframe(inspection, packet.timestamp)
        }
        guard let publication else { return .nothing }
        let track: TrackID = isVideo ? .video : .audio
        publication.timeline.observe(packet.timestamp, of: track, arrival: now)
        if let refusal = inspector?.inspect(packet, of: track, arrival: now) { return .refused(refusal) }
        if isVideo, !gate.isOpen,
            gate.videoForwarded(isDecodableIDR: startsKeyframe && parameterSets.isComplete, mediaTime: packet.timestamp)
        {
            (news.hasStarted, hasNews) = (true, true)
        }
        return gather(packet, of: track, startsKeyframe: startsKeyframe, at: now)
    }

    private func noteSize(of index: Int, by set: UnsafeRawBufferPointer) {
        guard let size = PictureSize(ofSequenceSet: set) else { return sources[index].pixelCount = 0 }
        sources[index].pixelCount = size.width * size.height
        publication?.counters[sources[index].track].setPictureSize(width: size.width, height: size.height)
    }

    /// Whether a source is the one that feeds its track. An encoder that began anew has a new one: then the sinks' numbers do too.
    private func feeds(_ index: Int, isVideo: Bool) -> Bool {
        guard !isVideo || !isSimulcast else { return true }
        let current = isVideo ? videoFeed : audioFeed
        if current == index { return true }
        if let current, index < current { return false }
        if isVideo { videoFeed = index } else { audioFeed = index }
        guard current != nil else { return true }
        handOver()
        publication?.timeline.restart()
        for sink in publication?.sinks ?? [] { sink.restarted() }
        return true
    }

    /// True for the first packet of an IDR access unit; keeps its parameter sets.
    private func noteKeyframe(_ inspection: PayloadInspection, _ timestamp: Int64) -> Bool {
        if inspection.hasParameterSet, let format = parameterSets.note(inspection) { publication?.setFormat(format, of: .video) }
        if inspection.hasIDR {
            keyframes.keyframeCame()
            if !hasIDR, publication != nil {
                hasIDR = true
                tell(.firstIDR)
            }
        }
        guard inspection.startsKeyframe, keyframeTimestamp != timestamp else { return false }
        keyframeTimestamp = timestamp
        return true
    }

    private func unmute(_ track: TrackID, at now: MonotonicTime) {
        let slot = track.kind == .video ? 0 : 1
        lastForwarded[slot] = now
        guard isMuted[slot] else { return }
        isMuted[slot] = false
        for sink in publication?.sinks ?? [] { sink.muteChanged(track, isMuted: false) }
    }

    // MARK: - Runs

    private func gather(_ packet: MediaPacket, of track: TrackID, startsKeyframe: Bool, at now: MonotonicTime) -> Outcome {
        if gathered.ends(before: track, startsKeyframe: startsKeyframe) { handOver() }
        let isFirst = gathered.append(packet, of: track, startsKeyframe: startsKeyframe, at: now)
        if isFirst { unmute(track, at: now) }
        return .gathered(isFirst: isFirst)
    }

    func flush(for entry: SessionEntry) {
        guard !gathered.isEmpty else { return }
        entry.progressed(at: gathered.run.arrival)
        handOver()
    }

    func handOver() {
        guard !gathered.isEmpty else { return }
        gathered.packets.withUnsafeBufferPointer { packets in publication?.forward(packets, of: gathered.run) }
        gathered.removeAll()
    }

    /// Late packets older than this would only make receivers wait.
    private static let maximumLateness: Duration = .milliseconds(500)
}
