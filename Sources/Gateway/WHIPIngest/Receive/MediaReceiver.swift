import GatewayMetrics
import Refusals
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
    var books: PacketBooks
    var bitrateLimit: Int
    let maximumBitrate: Int
    let ssrc: UInt32
    var lastReport: MonotonicTime = .zero
    var lastForwarded: [MonotonicTime] = [.zero, .zero]
    var isMuted = [false, false]
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
        books = PacketBooks(offer: offer)
        ssrc = UInt32.random(in: 1...UInt32.max)
    }

    /// The lease is ours: media flows into `publication` from now on.
    func begin(_ publication: Publication, inspector: (any PacketInspector)?) {
        outlet = Outlet(publication, inspector)
        books.keyframes.want()
    }

    func stop() {
        outlet = nil
        gathered.removeAll()
    }

    var publication: Publication? { outlet?.publication }
    var hasRTP: Bool { books.hasRTP }
    var hasNews: Bool { books.hasNews }
    var isMissingPackets: Bool { books.sources.contains { $0.losses.missingCount > 0 } }
    var canRequestKeyframe: Bool { !books.keyframes.isDeaf && offer.video.hasFeedback("nack pli") }
    /// Its keyframes come in its own time alone.
    var ignoresKeyframeRequests: Bool { books.keyframes.ignoresRequests || !offer.video.hasFeedback("nack pli") }
    func wantKeyframe() { books.keyframes.want() }
    func limitBitrate(_ bitsPerSecond: Int?) { bitrateLimit = min(maximumBitrate, bitsPerSecond ?? maximumBitrate) }
    func takeNews() -> PacketNews { books.takeNews() }

    // MARK: - Packets

    func receive(_ packet: UnsafeRawBufferPointer, at now: MonotonicTime) -> Outcome {
        guard let booking = books.book(packet, at: now) else { return .nothing }
        let outlet = outlet
        if case .late(let wasAsked, _) = booking.arrival { noteLate(wasAsked: wasAsked) }
        if booking.isMalformed { metrics.malformed.increment() }
        guard let outlet else { return .nothing }
        let publication = outlet.publication
        if let size = booking.pictureSize {
            publication.counters[booking.track].setPictureSize(width: size.width, height: size.height)
        }
        if booking.replacesFeed { startAnew(publication) }
        if booking.hasNewFormat, let format = books.videoFormat { publication.setFormat(format, of: .video) }
        guard booking.goesOn else {
            countUnforwarded(booking, in: publication.counters)
            return .nothing
        }
        if booking.hasIDR { books.sawIDR() }
        let track: TrackID = booking.track.kind == .video ? .video : .audio
        // The others of a picture came no sooner than its first: they tell nothing new of the publisher's clock.
        if booking.startsTimestamp { publication.timeline.observe(booking.packet.timestamp, of: track, arrival: now) }
        // The contract judges every packet that goes on, once, however late or by RTX it came.
        if let inspector = outlet.inspector, let refusal = inspect(booking.packet, of: track, by: inspector, at: now) {
            return .refused(refusal)
        }
        if booking.mayStartPublish { books.forwardedVideo(booking) }
        return gather(booking, of: track, at: now)
    }

    private func inspect(
        _ packet: MediaPacket, of track: TrackID, by inspector: any PacketInspector, at now: MonotonicTime
    ) -> Refusal? {
        guard track.kind == .video else { return inspector.inspectAudio(packet, arrival: now) }
        return inspector.inspectVideo(packet, books.found, arrival: now)
    }

    private func noteLate(wasAsked: Bool) {
        guard wasAsked else {
            publication?.counters.reordered.add(1)
            return
        }
        metrics.recovered.increment()
        publication?.counters.recovered.add(1)
    }

    /// Of a layer or source that does not go on; what goes on is counted with its run.
    private func countUnforwarded(_ booking: Booking, in counters: PublishCounters) {
        let payload = booking.packet.payload
        guard !booking.isTooLate, !payload.isEmpty else { return }
        counters[booking.track].count(byteCount: payload.count, endsFrame: booking.endsFrame)
    }

    /// The encoder began anew: the sinks' numbers do too.
    private func startAnew(_ publication: Publication) {
        handOver()
        publication.timeline.restart()
        for sink in publication.sinks { sink.restarted() }
    }

    private func unmute(_ track: TrackID, at now: MonotonicTime) {
        let slot = track.kind == .video ? 0 : 1
        lastForwarded[slot] = now
        guard isMuted[slot] else { return }
        isMuted[slot] = false
        for sink in publication?.sinks ?? [] { sink.muteChanged(track, isMuted: false) }
    }

    // MARK: - Runs

    private func gather(_ booking: Booking, of track: TrackID, at now: MonotonicTime) -> Outcome {
        var placement = gathered.append(booking, of: track, at: now)
        if placement == .mustWait {
            handOver()
            placement = gathered.append(booking, of: track, at: now)
        }
        if placement == .first { unmute(track, at: now) }
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
            gathered.packets.withUnsafeBufferPointer { publication.forward($0, of: gathered.run) }
        }
        gathered.removeAll()
    }
}
