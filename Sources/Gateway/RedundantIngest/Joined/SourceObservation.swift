import StageHub
import Wire

/// What one encoder's media shows of it: how it is, what its tracks are, and how its media time lies. Confined.
final class SourceObservation {
    private(set) var health = SourceHealth()
    /// The latest of each track.
    private(set) var news: [TrackID: FeedBlock.News] = [:]
    private var arrivals = LowerEnvelope()
    private var clocks = ToldClockReader()

    /// What is known of its media time.
    var clock: SourceClock { SourceClock(delay: arrivals.minimum ?? 0, told: clocks.told) }

    /// Of its best layer; nil before it is known.
    var picture: EncoderPicture? {
        let best = news.values.compactMap(\.layer).max { $0.width * $0.height < $1.width * $1.height }
        guard let best, let rate = health.framesPerSecond else { return nil }
        return EncoderPicture(width: best.width, height: best.height, framesPerSecond: rate)
    }

    /// - Parameter block: the next of the encoder's, in order, whoever gets it.
    func look(at block: FeedBlock) {
        let (run, packets) = (block.run, block.packets)
        for latest in block.news { news[latest.track] = latest }
        clocks.look(at: block)
        guard let first = packets.first else { return }
        let mediaTime = run.track.nanoseconds(ofTimestamp: first.timestamp)
        health.arrived(run.track.kind, mediaTime, at: run.arrival)
        arrivals.observe(run.arrival.nanoseconds &- mediaTime, at: run.arrival)
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
