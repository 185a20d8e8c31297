import Refusals
import EventLoop
import GatewayMetrics
import StageHub
import Wire

/// A publication's way into the embedded router: copies each run once, for as many workers as have subscribers.
///
/// Without subscribers it costs a comparison per run. Confined to the publication's worker.
final class PublisherTap: MediaSink {
    let live: LiveTap
    private unowned let publication: Publication
    private var writers: [MediaFeedWriter] = []
    private var pool = MediaBlockPool()
    private var epoch: UInt32 = 0
    private var clockRead: [MonotonicTime] = [.zero, .zero]
    private var keyframeAsked: MonotonicTime?
    private let context: EmbeddedRouterContext
    private let onEnded: (PublisherTap) -> Void

    init(
        _ live: LiveTap, of publication: Publication, context: EmbeddedRouterContext, onEnded: @escaping (PublisherTap) -> Void
    ) {
        (self.live, self.publication, self.context, self.onEnded) = (live, publication, context, onEnded)
    }

    // MARK: - Subscribers

    func add(_ feed: MediaFeed, at now: MonotonicTime) {
        writers.append(MediaFeedWriter(feed))
        pool.reserve()
        clockRead = [.zero, .zero]
        requestKeyframe(at: now)
    }

    func remove(_ feed: MediaFeed) { writers.removeAll { $0.feed === feed } }

    /// A subscriber has to start or lost its place. An RTMP encoder cannot be asked: its next keyframe comes by itself.
    func requestKeyframe(at now: MonotonicTime) {
        guard let source = publication.source, source.canRequestKeyframe else { return }
        if let keyframeAsked, now - keyframeAsked < Self.keyframeInterval { return }
        keyframeAsked = now
        context.metrics.keyframeRequests.increment()
        source.requestKeyframe(.video)
    }

    // MARK: - MediaSink

    func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun) {
        guard !writers.isEmpty else { return }
        var start = 0
        while start < packets.count {
            let end = min(start + MediaBlock.maximumPackets, packets.count)
            guard let block = pool.take() else { return fallBehind(at: run.arrival) }
            unsafe block.fill(
                packets[start..<end], of: run, isKeyframe: run.isKeyframe && start == 0, epoch: epoch,
                clock: start == 0 ? clock(of: run) : nil)
            handOver(block)
            start = end
        }
    }

    private func handOver(_ block: MediaBlock) {
        block.lend(toReaders: writers.count)
        for writer in writers {
            switch writer.push(block) {
            case .handedOver: break
            case .skipped: block.giveBack()
            case .fellBehind:
                block.giveBack()
                context.metrics.laggingFeeds.increment()
                requestKeyframe(at: block.arrival)
            }
        }
    }

    private func fallBehind(at now: MonotonicTime) {
        for writer in writers { writer.fallBehind() }
        requestKeyframe(at: now)
    }

    /// Read several times a second and track: the subscribers' workers extend it to the moment of their reports.
    private func clock(of run: MediaRun) -> MediaBlock.ClockReading? {
        let index = Int(run.track.kind.rawValue)
        guard run.arrival - clockRead[index] >= Self.clockInterval else { return nil }
        guard let timestamp = publication.timeline.timestamp(of: TrackID(run.track.kind), at: run.arrival) else { return nil }
        clockRead[index] = run.arrival
        return MediaBlock.ClockReading(time: run.arrival, timestamp: timestamp)
    }

    func formatChanged(_ track: TrackID, to format: TrackFormat) {}
    func muteChanged(_ track: TrackID, isMuted: Bool) {}
    func restarted() { epoch &+= 1 }

    func ended(_ reason: SessionEnd) {
        context.taps.remove(live)
        for writer in writers { writer.feed.end() }
        writers = []
        onEnded(self)
    }

    private static let clockInterval: Duration = .milliseconds(200)
    private static let keyframeInterval: Duration = .milliseconds(500)
}

/// Whom a subscriber watches.
struct WatchedKey: Hashable, Sendable {
    var stageID: String
    var participantID: String
}

/// A publication that can be subscribed to, as all workers see it.
struct LiveTap: Sendable, Equatable {
    /// Of this publish: a takeover has another one.
    var number: UInt64
    var key: WatchedKey
    /// The index of the worker that owns the publication.
    var worker: Int
}

/// Where workers find publications by participant. Only beginnings, ends and look-ups of subscribers touch its lock.
final class TapDirectory: Sendable {
    private let taps = Lock<[WatchedKey: LiveTap]>([:])

    subscript(key: WatchedKey) -> LiveTap? { taps.withLock { $0[key] } }

    func add(_ tap: LiveTap) { taps.withLock { $0[tap.key] = tap } }

    /// Removes the publication, unless a later one has taken its place.
    func remove(_ tap: LiveTap) { taps.withLock { if $0[tap.key] == tap { $0[tap.key] = nil } } }
}
