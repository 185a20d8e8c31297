import Wire

/// When a viewer's way is tried with more than is sent anyway, and what came of it. A value: whoever has it sends what it says.
///
/// Padding is sent for a moment at the rate in question, at most once in `interval`, and only while a better layer is not
/// carried yet by what is known.
struct ProbePlan {
    /// A try under way: so much is to be sent in each turn.
    private struct Try {
        var bitsPerSecond: Double
        /// What shows that the way carries enough, or clearly more than was known.
        var enough: Double
        var began: MonotonicTime
        /// The transport-wide number of its first packet.
        var first: Int64
        var sentByteCount = 0
    }

    /// What went out and what of it came.
    private struct Outcome {
        var range: Range<Int64>
        var enough: Double
        var ended: MonotonicTime
        var first: DeliveredPacket?
        var last: DeliveredPacket?
        var byteCount = 0
    }

    private var current: Try?
    private var outcome: Outcome?
    private var lastBegan: MonotonicTime?
    /// Tries in a row that found too little.
    private var failureCount = 0

    /// Until the last packet of a try is told of.
    var isUnderWay: Bool { current != nil || outcome != nil }

    /// Begins a try when one is due.
    /// - Parameters:
    ///   - rate: what a better layer needs, bits a second.
    ///   - known: what the way is known to carry: a try goes not far beyond, so that a narrow way is not filled by it.
    /// - Returns: whether it began.
    mutating func begin(rate: Int, known: Int, next: Int64, at now: MonotonicTime) -> Bool {
        guard current == nil, outcome == nil else { return false }
        if let lastBegan, now - lastBegan < Self.interval(afterFailures: failureCount) { return false }
        let (wanted, reach) = (Double(rate) * Self.margin, Double(known) * Self.stride)
        current = Try(
            bitsPerSecond: min(wanted, reach), enough: min(Double(rate), Self.step * Double(known)), began: now, first: next)
        lastBegan = now
        return true
    }

    /// How many bytes are to be sent in this turn; nil ends the try.
    mutating func turn(next: Int64, at now: MonotonicTime) -> Int? {
        guard let running = current else { return nil }
        let elapsed = (now - running.began).inSeconds + Self.turnInterval.inSeconds
        guard now - running.began < Self.duration else {
            current = nil
            outcome = Outcome(range: running.first..<next, enough: running.enough, ended: now)
            return nil
        }
        return max(0, min(Self.maximumBytesPerTurn, Int(running.bitsPerSecond * elapsed / 8) - running.sentByteCount))
    }

    /// Whatever goes out while a try runs is a part of it.
    mutating func sent(byteCount: Int) { current?.sentByteCount += byteCount }

    /// - Returns: bits a second that the way has proven to carry, once all of a try is told of.
    mutating func take(_ packets: [DeliveredPacket]) -> Double? {
        guard outcome != nil else { return nil }
        for packet in packets { note(packet) }
        guard let told = outcome, packets.last.map({ $0.number >= told.range.upperBound - 1 }) == true else { return nil }
        outcome = nil
        let proven = rate(of: told)
        failureCount = (proven ?? 0) < told.enough ? failureCount + 1 : 0
        return proven
    }

    /// The way has become narrower: it is not filled by tries one soon after the other.
    mutating func narrowed() { failureCount = max(failureCount, Self.failuresOfNarrow) }

    /// A try whose feedback never comes has failed.
    mutating func forgetLost(at now: MonotonicTime) {
        guard let outcome, now - outcome.ended > Self.patience else { return }
        self.outcome = nil
        failureCount += 1
    }

    private mutating func note(_ packet: DeliveredPacket) {
        guard outcome?.range.contains(packet.number) == true, packet.arrival != nil else { return }
        if outcome?.first == nil { outcome?.first = packet } else { outcome?.byteCount += packet.byteCount }
        outcome?.last = packet
    }

    /// The slower of going out and coming in; a way that delayed them carries a little less than it showed.
    private func rate(of outcome: Outcome) -> Double? {
        guard let first = outcome.first, let last = outcome.last, let began = first.arrival, let ended = last.arrival,
            case let span = ended &- began, span > 0, last.sent > first.sent
        else { return nil }
        let bits = Double(outcome.byteCount * 8)
        let (sent, received) = (bits / (last.sent - first.sent).inSeconds, bits / (Double(span) / 1e9))
        return received < 0.9 * sent ? 0.95 * received : min(sent, received)
    }

    /// Long enough that a queue of some milliseconds is no result, short enough that one too much delays nothing for long.
    static let duration: Duration = .milliseconds(80)
    static let turnInterval: Duration = .milliseconds(5)
    /// A try shows a little less than was sent.
    private static let margin = 1.15
    /// Beyond, a try would overflow the queue of a narrow way.
    private static let stride = 2.0
    private static let step = 1.25
    /// Soon from one step to the next where the way is found wider; later each time after tries that found too little, once so
    /// many have that they are no accidents.
    private static func interval(afterFailures count: Int) -> Duration {
        count == 0 ? .milliseconds(300) : .milliseconds(500 << min(max(0, count - accidents), 3))
    }

    private static let accidents = 6
    private static let failuresOfNarrow = accidents + 3
    static let maximumBytesPerTurn = 8_000
    private static let patience: Duration = .seconds(2)
}
