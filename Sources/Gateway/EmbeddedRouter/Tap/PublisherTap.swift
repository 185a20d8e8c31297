import Admission
import EventLoop
import GatewayMetrics
import Refusals
import StageHub
import Wire

/// A publication's way into the embedded router: copies each run once, for as many workers as have subscribers of its layer.
///
/// Without subscribers it costs a comparison per run. Confined to the publication's worker.
final class PublisherTap: MediaSink {
    let live: LiveTap
    /// Holds its observers until it ends.
    private unowned let publication: Publication
    private var writers: [MediaFeedWriter] = []
    private var pool = MediaBlockPool()
    private var epoch: UInt32 = 0
    /// By layer, sound last.
    private var clockRead = unread
    /// What readers were told last, and when that was last compared with what is so.
    private var toldLayers: [VideoLayer] = []
    private var ratesRead = MonotonicTime.zero
    /// An encoder's pictures may differ in size all the time, and what readers are told costs each of their viewers.
    private var changes = Allowance(maximumChangesAtOnce, then: .milliseconds(500))
    /// By layer.
    private var keyframeRequests = [Allowance](
        repeating: Allowance(1, then: .milliseconds(500)), count: PublishCounters.maximumLayerCount)
    private let context: EmbeddedRouterContext
    private let onEnded: (PublisherTap) -> Void

    init(
        _ live: LiveTap, of publication: Publication, context: EmbeddedRouterContext, onEnded: @escaping (PublisherTap) -> Void
    ) {
        (self.live, self.publication, self.context, self.onEnded) = (live, publication, context, onEnded)
    }

    // MARK: - Subscribers

    func add(_ feed: MediaFeed) {
        writers.append(MediaFeedWriter(feed))
        pool.reserve()
        clockRead = Self.unread
        let layers = publication.layers
        feed.tell(layers)
        // If they have changed, the other readers hear of it with the rates.
        if layers != toldLayers { toldLayers = [] }
    }

    func remove(_ feed: MediaFeed) {
        writers.removeAll { $0.feed === feed }
        if writers.isEmpty { pool = MediaBlockPool() }
    }

    /// A subscriber has to start or to switch, or lacks pictures. An RTMP encoder cannot be asked: its
    /// next keyframe comes by itself.
    func requestKeyframe(of layer: TrackID, at now: MonotonicTime) {
        guard let source = publication.source, source.canRequestKeyframe else { return }
        guard keyframeRequests[MediaBlock.place(of: layer)].take(at: now) else { return }
        context.metrics.keyframeRequests.increment()
        source.requestKeyframe(layer)
    }

    // MARK: - MediaSink

    func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun) {
        guard !writers.isEmpty else { return }
        // Also while nobody wants pictures: they may fit again.
        tellRates(at: run.arrival)
        let readerCount = lookWhoWants(run.track)
        guard readerCount > 0 else { return }
        var start = 0
        while start < packets.count {
            let end = min(start + MediaBlock.maximumPackets, packets.count)
            guard let block = pool.take(at: run.arrival) else { return fallBehind(run) }
            let isFirst = start == 0
            unsafe block.fill(
                packets[start..<end],
                of: MediaRun(track: run.track, isKeyframe: run.isKeyframe && isFirst, arrival: run.arrival), epoch: epoch,
                clock: isFirst ? clock(of: run) : nil, shifts: shifts(to: run))
            block.lend(toReaders: readerCount)
            handOver(block)
            start = end
        }
    }

    /// The hub tells of a rate when it has changed by a quarter. Viewers near their ceiling need it as it is, or one peak would
    /// count for good.
    private func tellRates(at now: MonotonicTime) {
        guard now - ratesRead >= Self.ratesInterval else { return }
        ratesRead = now
        let layers = publication.layers
        if layers != toldLayers { tell(layers) }
    }

    private func tell(_ layers: [VideoLayer]) {
        toldLayers = layers
        for writer in writers { writer.feed.tell(layers) }
    }

    /// Asked once for a run: what a reader wants may change meanwhile.
    private func lookWhoWants(_ track: TrackID) -> Int {
        var count = 0
        for writer in writers where writer.looksFor(track) { count += 1 }
        return count
    }

    private func handOver(_ block: MediaBlock) {
        for writer in writers where writer.isLookingFor {
            switch writer.push(block) {
            case .handedOver: break
            case .skipped: block.giveBack()
            case .fellBehind:
                block.giveBack()
                context.metrics.laggingFeeds.increment()
                requestKeyframe(of: block.run)
            case .awaitsKeyframe:
                // The one asked for may have come while the reader lagged, and viewers whom an older one has shown all miss none.
                block.giveBack()
                requestKeyframe(of: block.run)
            }
        }
    }

    private func fallBehind(_ run: MediaRun) {
        for writer in writers where writer.isLookingFor { writer.fallBehind() }
        requestKeyframe(of: run)
    }

    /// Something was not handed over: readers of other layers than this ask by themselves.
    private func requestKeyframe(of run: MediaRun) {
        if run.track.kind == .video { requestKeyframe(of: run.track, at: run.arrival) }
    }

    /// Read several times a second and track: the subscribers' workers extend it to the moment of their reports.
    private func clock(of run: MediaRun) -> MediaBlock.ClockReading? {
        let index = run.track.kind == .audio ? clockRead.count - 1 : MediaBlock.place(of: run.track)
        // With each keyframe, for those who come from another layer.
        guard run.isKeyframe || run.arrival - clockRead[index] >= Self.clockInterval else { return nil }
        guard let timestamp = publication.timeline.timestamp(of: run.track, at: run.arrival) else { return nil }
        clockRead[index] = run.arrival
        return MediaBlock.ClockReading(time: run.arrival, timestamp: timestamp)
    }

    private func shifts(to run: MediaRun) -> MediaBlock.Shifts {
        var shifts = MediaBlock.Shifts(repeating: nil)
        guard run.isKeyframe, run.track.kind == .video else { return shifts }
        for place in shifts.indices {
            shifts[place] = publication.timeline.shift(from: TrackID(.video, layer: UInt8(place)), to: run.track)
        }
        return shifts
    }

    func layersChanged() {
        let layers = publication.layers
        // A layer is paused and goes on twice a second at most, and viewers have to know at once. Other news, if it is too much, is
        // told with the rates.
        if Self.flowing(layers) != Self.flowing(toldLayers) || changes.take(at: EventLoop.monotonicNow()) { tell(layers) }
    }

    private static func flowing(_ layers: [VideoLayer]) -> Set<TrackID> { Set(layers.filter(\.isActive).map(\.track)) }

    func restarted() { epoch &+= 1 }

    func ended(_ reason: SessionEnd) {
        context.taps.remove(live)
        for writer in writers { writer.feed.end() }
        writers = []
        onEnded(self)
    }

    private static let unread = [MonotonicTime](repeating: .zero, count: PublishCounters.maximumLayerCount + 1)
    private static let clockInterval: Duration = .milliseconds(200)
    private static let ratesInterval: Duration = .seconds(5)
    private static let maximumChangesAtOnce = 10
}

/// A publication that can be subscribed to, as all workers see it.
struct LiveTap: Sendable, Equatable {
    /// Tells this publish from others of the same participant: a takeover has another number.
    var number: UInt64
    var key: ParticipantKey
    /// The index of the worker that owns the publication.
    var worker: Int
}

/// Where workers find publications by participant. Only beginnings, ends and look-ups of subscribers touch its lock.
final class TapDirectory: Sendable {
    private let taps = Lock<[ParticipantKey: LiveTap]>([:])

    subscript(key: ParticipantKey) -> LiveTap? { taps.withLock { $0[key] } }

    func add(_ tap: LiveTap) { taps.withLock { $0[tap.key] = tap } }

    /// Removes the publication, unless a later one has taken its place.
    func remove(_ tap: LiveTap) { taps.withLock { if $0[tap.key] == tap { $0[tap.key] = nil } } }
}
