import StageHub
import Wire

/// A participant whom subscribers of this worker watch: the feed of its publication and who gets it. Confined to the worker.
///
/// It outlives a publication for a while: an encoder that comes back finds its subscribers waiting.
final class WatchedParticipant {
    let key: WatchedKey
    private(set) var sessions: [SubscriberSession] = []
    private(set) var feed: MediaFeed?
    private(set) var tap: LiveTap?
    /// Since when no publication is there.
    private(set) var absentSince: MonotonicTime?
    private(set) var store = RetransmissionStore()
    /// Counts the feeds; with a block's own epoch it tells when numbers begin anew.
    private var generation: UInt64 = 0
    private var epoch: UInt64?
    private var skippedBefore: UInt64 = 0

    init(key: WatchedKey, now: MonotonicTime) { (self.key, absentSince) = (key, now) }

    deinit { store.removeAll() }

    func add(_ session: SubscriberSession) { sessions.append(session) }
    func remove(_ session: SubscriberSession) { sessions.removeAll { $0 === session } }

    /// A publication is there: what comes by `feed` is sent on from now.
    func follow(_ tap: LiveTap, by feed: MediaFeed) {
        (self.tap, self.feed, absentSince) = (tap, feed, nil)
        (skippedBefore, generation) = (0, generation + 1)
    }

    /// The publication has ended.
    func loseFeed(at now: MonotonicTime) { (tap, feed, absentSince) = (nil, nil, now) }

    /// Sends on what waits in the feed.
    func drain(at now: MonotonicTime) {
        guard let feed else { return }
        feed.drain { block in
            noteEpoch(of: block, feed)
            for session in sessions { session.send(block, epoch: epoch ?? 0, at: now) }
            if block.kind == .video { store.keep(block) } else { block.giveBack() }
        }
    }

    /// A new publication, a restart of its numbers or blocks that were skipped: decoders start again at a keyframe.
    private func noteEpoch(of block: MediaBlock, _ feed: MediaFeed) {
        let current = generation << 32 | UInt64(block.epoch)
        let skipped = feed.skippedCount
        guard current != epoch || skipped != skippedBefore else { return }
        if current != epoch { store.removeAll() }
        (epoch, skippedBefore) = (current, skipped)
        for session in sessions { session.placeLost() }
    }
}
