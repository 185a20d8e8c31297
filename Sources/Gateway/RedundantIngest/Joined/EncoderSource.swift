import Monitoring
import StageHub
import Wire

/// One encoder as the worker that joins its participant has it. Confined.
final class EncoderSource {
    let feed: EncoderFeed
    private(set) var health = SourceHealth()
    /// Ready while it is not the source.
    var kept = KeptGroup()
    /// What is known of its tracks.
    private(set) var news: [TrackID: FeedBlock.News] = [:]
    /// Blocks of a run that is not whole yet.
    private var gathered: [FeedBlock] = []
    private var clock = LowerEnvelope()

    init(_ feed: EncoderFeed) {
        self.feed = feed
        gathered.reserveCapacity(64)
    }

    deinit { letGo() }

    var encoder: Int { feed.encoder }
    /// Least of (arrival − media time), nanoseconds.
    var delay: Int64? { clock.minimum }
    /// A decoder may start with it now.
    var canBegin: Bool { kept.isReady || !health.hasVideo }

    /// Looks at one block, whoever gets it.
    func note(_ block: FeedBlock) {
        let (run, packets) = (block.run, block.packets)
        if let latest = block.news { news[run.track] = latest }
        guard let first = packets.first else { return }
        let mediaTime = run.track.nanoseconds(ofTimestamp: first.timestamp)
        health.arrived(run.track.kind, mediaTime, at: run.arrival)
        clock.observe(run.arrival.nanoseconds &- mediaTime, at: run.arrival)
    }

    /// Puts the blocks of a run together.
    /// - Parameter body: given all of them, with the last.
    func gather(_ block: FeedBlock, _ body: ([FeedBlock]) -> Void) {
        if block.followsLoss { letGo() }
        gathered.append(block)
        guard block.isLast else { return }
        body(gathered)
        letGo()
    }

    /// It is not the source any more, or is gone.
    func letGo() {
        for block in gathered { block.giveBack() }
        gathered.removeAll(keepingCapacity: true)
    }

    func leave() {
        feed.drain { $0.giveBack() }
        kept.removeAll()
        letGo()
    }
}
