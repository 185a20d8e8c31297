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
    /// While it is the source: what of it is older than what comes now.
    private var backlog = Backlog()
    /// Blocks of a run that is not whole yet.
    private var gathered: [FeedBlock] = []
    private var arrivals = LowerEnvelope()
    private var clocks = ToldClockReader()

    init(_ feed: EncoderFeed) {
        self.feed = feed
        gathered.reserveCapacity(64)
    }

    deinit { letGo() }

    var encoder: Int { feed.encoder }
    /// What is known of its media time.
    var clock: SourceClock { SourceClock(delay: arrivals.minimum ?? 0, told: clocks.told) }
    /// A decoder may start with it now.
    var canBegin: Bool { kept.isReady || !health.hasVideo }

    /// Of its best layer; nil before it is known.
    var picture: EncoderPicture? {
        let best = news.values.compactMap(\.layer).max { $0.width * $0.height < $1.width * $1.height }
        guard let best, let rate = health.framesPerSecond else { return nil }
        return EncoderPicture(width: best.width, height: best.height, framesPerSecond: rate)
    }

    /// Takes what has come.
    /// - Parameter output: where it goes; nil while it is not the source: then it is kept.
    func drain(into output: JoinedOutput?) {
        feed.drain { block in
            note(block)
            guard let output else { return kept.keep(block) }
            output.apply(block.news, at: block.run.arrival)
            guard backlog.isEmpty else { return backlog.append(block) }
            gather(block) { output.write($0, arrival: block.run.arrival, clock) }
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
            gather(block) { output.write($0, arrival: beginsStream ? block.run.arrival : now, clock) }
        }
    }

    /// Looks at one block, whoever gets it.
    private func note(_ block: FeedBlock) {
        let (run, packets) = (block.run, block.packets)
        for latest in block.news { news[latest.track] = latest }
        clocks.look(at: block)
        guard let first = packets.first else { return }
        let mediaTime = run.track.nanoseconds(ofTimestamp: first.timestamp)
        health.arrived(run.track.kind, mediaTime, at: run.arrival)
        arrivals.observe(run.arrival.nanoseconds &- mediaTime, at: run.arrival)
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

/// What an encoder's pictures are like, where both of a participant should be alike.
struct EncoderPicture {
    var width: Int
    var height: Int
    var framesPerSecond: Double

    /// What the two users of them should know, this being the first one's; nil where both are alike.
    func difference(from second: EncoderPicture) -> String? {
        let rates = framesPerSecond / second.framesPerSecond
        let areAlike = (width, height) == (second.width, second.height) && (0.9...1.1).contains(rates)
        return areAlike
            ? nil : "Encoder 1 sends \(words), encoder 2 \(second.words): set both alike, or each switch changes the picture."
    }

    private var words: String { "\(width)x\(height) at \(Int(framesPerSecond.rounded())) pictures a second" }
}
