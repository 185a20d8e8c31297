import GatewayMetrics
import Refusals
import StageHub
import Wire

/// A publication's way into the embedded router: copies each run once, for as many workers as have subscribers.
///
/// Without subscribers it costs a comparison per run. Confined to the publication's worker.
final class PublisherTap: MediaSink {
    let live: LiveTap
    private unowned let publication: Publication
    private var feeds: [MediaFeed] = []
    private var pool = MediaBlockPool()
    private var epoch: UInt32 = 0
    private var clockRead: [MonotonicTime] = [.zero, .zero]
    private var keyframeAsked: MonotonicTime?
    private let plane: EmbeddedRouterPlane
    private let onEnded: (PublisherTap) -> Void

    init(
        _ live: LiveTap, of publication: Publication, plane: EmbeddedRouterPlane, onEnded: @escaping (PublisherTap) -> Void
    ) {
        (self.live, self.publication, self.plane, self.onEnded) = (live, publication, plane, onEnded)
    }

    // MARK: - Subscribers

    func add(_ feed: MediaFeed, at now: MonotonicTime) {
        feeds.append(feed)
        clockRead = [.zero, .zero]
        requestKeyframe(at: now)
    }

    func remove(_ feed: MediaFeed) { feeds.removeAll { $0 === feed } }

    /// A subscriber has to start or lost its place. An RTMP encoder cannot be asked: its next keyframe comes by itself.
    func requestKeyframe(at now: MonotonicTime) {
        guard let source = publication.source, source.canRequestKeyframe else { return }
        if let keyframeAsked, now - keyframeAsked < Self.keyframeInterval { return }
        keyframeAsked = now
        plane.metrics.keyframeRequests.increment()
        source.requestKeyframe(.video)
    }

    // MARK: - MediaSink

    func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun) {
        guard !feeds.isEmpty else { return }
        var start = 0
        while start < packets.count {
            let end = min(start + MediaBlock.maximumPackets, packets.count)
            guard let block = pool.take() else { return fallBehind(at: run.arrival) }
            block.fill(
                packets[start..<end], of: run, isKeyframe: run.isKeyframe && start == 0, epoch: epoch,
                clock: start == 0 ? clock(of: run) : nil)
            handOver(block)
            start = end
        }
    }

    private func handOver(_ block: MediaBlock) {
        block.lend(toReaders: feeds.count)
        for feed in feeds {
            switch feed.push(block) {
            case .handedOver: break
            case .skipped: block.giveBack()
            case .fellBehind:
                block.giveBack()
                plane.metrics.laggingFeeds.increment()
                requestKeyframe(at: block.arrival)
            }
        }
    }

    private func fallBehind(at now: MonotonicTime) {
        for feed in feeds { feed.fallBehind() }
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
        plane.taps.remove(live)
        for feed in feeds { feed.end() }
        feeds = []
        onEnded(self)
    }

    private static let clockInterval: Duration = .milliseconds(200)
    private static let keyframeInterval: Duration = .milliseconds(500)
}
