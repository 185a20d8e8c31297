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

    let offer: AcceptedOffer
    let metrics: WHIPMetrics
    var sources: [RTPSource] = []
    var sourceIndex: [UInt32: Int] = [:]
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
    private var gathered: [MediaPacket] = []
    private var run = MediaRun(track: .video, isKeyframe: false, arrival: .zero)
    private var parameterSets = ParameterSetKeeper()
    private var steps: [SessionStory.Step] = []
    private(set) var hasRTP = false
    private var hasIDR = false
    private var gate = PublishGate(needsAudio: false)
    private var hasStarted = false
    private var keyframeTimestamp: Int64?
    /// The source that feeds video and audio, by its place in `sources`; without simulcast a newer one replaces it.
    private var feeding: [Int?] = [nil, nil]
    /// Sources that came for the first time; whoever registers them empties it.
    var newSources: [UInt32] = []
    let transportID: UInt8?

    init(offer: AcceptedOffer, maximumBitrate: Int, metrics: WHIPMetrics) {
        (self.offer, self.metrics, self.maximumBitrate) = (offer, metrics, maximumBitrate)
        bitrateLimit = maximumBitrate
        selector = LayerSelector(layerCount: max(1, offer.video.rids.count))
        transportID =
            offer.video.identifier(of: HeaderExtensionMap.transportWideCC)
            ?? offer.audio?.identifier(of: HeaderExtensionMap.transportWideCC)
        ssrc = UInt32.random(in: 1...UInt32.max)
        gathered.reserveCapacity(Self.maximumGathered)
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

    /// A step of the story that was reached since the last call.
    func takeStep() -> SessionStory.Step? { steps.isEmpty ? nil : steps.removeFirst() }

    /// True once, when the publish has really started.
    func takeStart() -> Bool {
        defer { hasStarted = false }
        return hasStarted
    }

    // MARK: - Packets

    func receive(_ packet: UnsafeRawBufferPointer, at now: MonotonicTime) -> Outcome {
        guard let header = try? RTPHeader(parsing: packet.bytes) else { return .nothing }
        metrics.received.increment()
        if !hasRTP {
            hasRTP = true
            steps.append(.firstRTP)
        }
        if let transportID, let extensions = header.extensions, let range = extensions.range(of: transportID, in: packet.bytes),
            range.count == 2
        {
            transport.received(UInt16(packet[range.lowerBound]) << 8 | UInt16(packet[range.lowerBound + 1]), at: now)
        }
        guard let index = sourceIndex[header.ssrc] ?? place(header, packet) else { return .nothing }
        let isNew = sources[index].lastArrival == .zero
        sources[index].lastArrival = now
        let payload = UnsafeRawBufferPointer(rebasing: packet[header.payload(inPacketOf: packet.count)])
        let outcome =
            switch sources[index].role {
            case .media:
                accept(index, header.sequenceNumber, header.timestamp, header.marker, payload, isRetransmission: false, at: now)
            case .retransmission(let media): acceptRetransmission(media, header, payload, at: now)
            }
        if isNew { newSources.append(header.ssrc) }
        return outcome
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
        let extended = isRetransmission ? sources[index].numbers.extend(number) : sources[index].numbers.unwrap(number)
        switch sources[index].losses.received(extended, at: now) {
        case .duplicate: return .nothing
        case .late(let wasAsked, let age):
            if wasAsked { metrics.recovered.increment() }
            if let counters = publication?.counters { (wasAsked ? counters.recovered : counters.reordered).add(1) }
            sources[index].statistics.received(extended, timestamp: timestamp, arrival: now, clockRate: sources[index].clockRate)
            guard age <= Self.maximumLateness else { return .nothing }
        case .inOrder, .restarted:
            sources[index].statistics.received(extended, timestamp: timestamp, arrival: now, clockRate: sources[index].clockRate)
        }
        guard !payload.isEmpty else { return .nothing }
        publication?.counters[sources[index].track].count(byteCount: payload.count, endsFrame: marker || !isVideo(index))
        let media = MediaPacket(
            sequenceNumber: extended, timestamp: sources[index].timestamps.unwrap(timestamp), marker: marker, payload: payload)
        return forward(media, from: index, at: now)
    }

    /// Duplicates are gone by here: the contract judges every packet that goes on, once, however late or by RTX it came.
    private func forward(_ packet: MediaPacket, from index: Int, at now: MonotonicTime) -> Outcome {
        var packet = packet
        var startsKeyframe = false
        let isVideo = sources[index].track.kind == .video
        guard feeds(index, isVideo: isVideo) else { return .nothing }
        if isVideo {
            let inspection = PayloadInspection(packet.payload)
            if let set = inspection.sequenceSet { noteSize(of: index, by: set) }
            guard
                selector.admits(
                    &packet, layer: sources[index].track.layer, startsKeyframe: inspection.startsKeyframe,
                    pixelCount: sources[index].pixelCount, at: now)
            else { return .nothing }
            startsKeyframe = noteKeyframe(inspection, packet.timestamp)
        }
        guard let publication else { return .nothing }
        let track: TrackID = isVideo ? .video : .audio
        publication.timeline.observe(packet.timestamp, of: track, arrival: now)
        if let refusal = inspector?.inspect(packet, of: track, arrival: now) { return .refused(refusal) }
        if isVideo, gate.videoForwarded(isDecodableIDR: startsKeyframe && parameterSets.isComplete, mediaTime: packet.timestamp) {
            hasStarted = true
        }
        unmute(track, at: now)
        return gather(packet, of: track, startsKeyframe: startsKeyframe, at: now)
    }

    private func isVideo(_ index: Int) -> Bool { sources[index].track.kind == .video }

    private func noteSize(of index: Int, by set: UnsafeRawBufferPointer) {
        guard let size = PictureSize(ofSequenceSet: set) else { return sources[index].pixelCount = 0 }
        sources[index].pixelCount = size.width * size.height
        publication?.counters[sources[index].track].setPictureSize(width: size.width, height: size.height)
    }

    /// Whether a source is the one that feeds its track. An encoder that began anew has a new one: then the sinks' numbers do too.
    private func feeds(_ index: Int, isVideo: Bool) -> Bool {
        guard !isVideo || offer.video.rids.count <= 1 else { return true }
        let slot = isVideo ? 0 : 1
        guard let current = feeding[slot], current != index else {
            feeding[slot] = index
            return true
        }
        guard index > current else { return false }
        feeding[slot] = index
        handOver()
        publication?.timeline.restart()
        for sink in publication?.sinks ?? [] { sink.restarted() }
        return true
    }

    /// True for the first packet of an IDR access unit; keeps its parameter sets.
    private func noteKeyframe(_ inspection: PayloadInspection, _ timestamp: Int64) -> Bool {
        if let format = parameterSets.note(inspection) { publication?.setFormat(format, of: .video) }
        if inspection.hasIDR {
            keyframes.keyframeCame()
            if !hasIDR, publication != nil {
                hasIDR = true
                steps.append(.firstIDR)
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
        if !gathered.isEmpty, run.track != track || startsKeyframe || gathered.count >= Self.maximumGathered { handOver() }
        let isFirst = gathered.isEmpty
        if isFirst { run = MediaRun(track: track, isKeyframe: startsKeyframe, arrival: now) }
        gathered.append(packet)
        return .gathered(isFirst: isFirst)
    }

    func flush(for entry: SessionEntry) {
        guard !gathered.isEmpty else { return }
        entry.progressed(at: run.arrival)
        handOver()
    }

    func handOver() {
        guard !gathered.isEmpty else { return }
        gathered.withUnsafeBufferPointer { packets in publication?.forward(packets, of: run) }
        gathered.removeAll(keepingCapacity: true)
    }

    /// Late packets older than this would only make receivers wait.
    private static let maximumLateness: Duration = .milliseconds(500)
    private static let maximumGathered = 64
}
