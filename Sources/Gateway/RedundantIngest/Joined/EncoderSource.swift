import StageHub
import Wire

/// One encoder as the worker that joins its participant has it. Confined.
final class EncoderSource {
    let feed: EncoderFeed
    let observed = SourceObservation()
    /// Ready while it is not the source.
    private var kept = KeptGroup()
    /// While it is the source: what of it is older than what comes now.
    private var backlog = Backlog()
    /// Blocks of a run that is not whole yet.
    private var gathered: [FeedBlock] = []

    init(_ feed: EncoderFeed) {
        self.feed = feed
        gathered.reserveCapacity(64)
    }

    deinit { letGo() }

    var encoder: Int { feed.encoder }
    /// A decoder may start with it now.
    var canBegin: Bool { kept.isReady || !observed.health.hasVideo }

    /// Takes what has come.
    /// - Parameter output: where it goes; nil while it is not the source: then it is kept.
    func drain(into output: JoinedOutput?) {
        feed.drain { block in
            observed.look(at: block)
            guard let output else { return kept.keep(block) }
            output.apply(block.news, at: block.run.arrival)
            guard backlog.isEmpty else { return backlog.append(block) }
            gather(block) { output.write($0, arrival: block.run.arrival, observed.clock) }
        }
    }

    // MARK: - Catching up

    var isCatchingUp: Bool { !backlog.isEmpty }

    /// It is the source from now on.
    /// - Parameter isReached: whether the stage has all pictures before those that begin with a block.
    func begin(at now: MonotonicTime, isReached: (FeedBlock) -> Bool) {
        kept.release(after: isReached) { backlog.append($0) }
        backlog.begin(at: now)
    }

    /// Nothing more comes of it: what it brought last may not be cut off where it is old.
    func hurry() { backlog.hurry() }

    /// Sends what is due of what was kept. It came before now, and is sent now: latencies count from here.
    /// - Parameter beginsStream: sender reports begin with when it came.
    func sendBacklog(to output: JoinedOutput, at now: MonotonicTime, beginsStream: Bool) {
        while let block = backlog.next(at: now) {
            gather(block) { output.write($0, arrival: beginsStream ? block.run.arrival : now, observed.clock) }
        }
    }

    /// Puts the blocks of a run together.
    /// - Parameter body: given all of them, with the last.
    private func gather(_ block: FeedBlock, _ body: ([FeedBlock]) -> Void) {
        if block.followsLoss { giveBackGathered() }
        gathered.append(block)
        guard block.isLast else { return }
        body(gathered)
        giveBackGathered()
    }

    private func giveBackGathered() {
        for block in gathered { block.giveBack() }
        gathered.removeAll(keepingCapacity: true)
    }

    /// It is not the source any more, or is gone.
    func letGo() {
        giveBackGathered()
        backlog.removeAll()
    }

    func leave() {
        feed.drain { $0.giveBack() }
        kept.removeAll()
        letGo()
    }
}
