import RTCP
import Wire

/// What the way to one viewer carries, bits a second, by everything that the viewer tells: transport-wide feedback by delay and
/// loss (draft-ietf-rmcat-gcc-02), receiver reports by loss where it gives no such feedback, and REMB as a limit. A value: time
/// comes in, nothing goes out (docs/design.md 5.8).
struct BandwidthEstimate {
    private(set) var sent = SentPackets()
    private var trend = DelayTrend()
    private var delay: RateControl
    private var loss: LossControl
    private var delivered = DeliveredRate()
    private var limit: (bitsPerSecond: Double, time: MonotonicTime)?
    /// When transport-wide feedback came last.
    private var lastFeedback: MonotonicTime?
    /// When a receiver report came last.
    private var lastReport: MonotonicTime?

    /// - Parameter start: what is taken for granted before anything is known.
    init(start: Int = startBitsPerSecond) {
        (delay, loss) = (RateControl(bitsPerSecond: start), LossControl(bitsPerSecond: start))
    }

    /// Nil while the viewer has told nothing, and once its reports have ceased: receivers report of what comes alone.
    func bitsPerSecond(at now: MonotonicTime) -> Int? {
        let limit = limit.flatMap { now - $0.time < Self.limitLifetime ? $0.bitsPerSecond : nil }
        guard hasFeedback || limit != nil || hasReports(at: now) else { return nil }
        let carried = hasFeedback ? min(delay.bitsPerSecond, loss.bitsPerSecond) : loss.bitsPerSecond
        return Int(min(carried, limit ?? carried))
    }

    private func hasReports(at now: MonotonicTime) -> Bool {
        lastReport.map { now - $0 < Self.reportLifetime } ?? false
    }

    /// Whether the viewer tells of each packet: only then tries with padding show anything.
    var hasFeedback: Bool { lastFeedback != nil }

    /// The packet with the number `sent.next` goes out.
    mutating func sent(byteCount: Int, at now: MonotonicTime) { sent.add(byteCount: byteCount, at: now) }

    /// - Returns: what it says of each packet.
    /// - Parameter isTried: packets of a try are under way, which fill the way for a moment: nothing is taken back for that.
    mutating func received(
        _ feedback: TransportWideFeedback, isTried: Bool = false, at now: MonotonicTime
    ) -> [DeliveredPacket] {
        let packets = sent.take(feedback)
        guard !packets.isEmpty else { return [] }
        if let lastFeedback, now - lastFeedback > Self.longestSilence { trend.restart() }
        lastFeedback = now
        for packet in packets {
            trend.observe(packet)
            delivered.note(packet)
        }
        let usage = isTried && trend.usage == .over ? .under : trend.usage
        delay.update(usage, delivered: delivered.bitsPerSecond, at: now)
        loss.note(expected: packets.count, lost: packets.count { $0.arrival == nil }, at: now)
        // With delay to go by, loss only takes away: without any it does not fall behind what delay has found. A queue that is
        // full grows no longer, so that delay alone would take a way that loses for a calm one.
        if loss.isLight || !loss.hasTakenAway { loss.reach(delay.bitsPerSecond) }
        if loss.isHeavy, let delivered = delivered.bitsPerSecond { delay.lower(to: delivered) }
        return packets
    }

    /// A try with padding came through at this rate.
    mutating func proven(_ bitsPerSecond: Double, at now: MonotonicTime) {
        delay.proven(bitsPerSecond, at: now)
        if !loss.isHeavy { loss.reach(bitsPerSecond) }
    }

    /// A receiver report of our video.
    /// - Parameter sending: bits a second.
    mutating func reported(fractionLost: UInt8, sending: Int, at now: MonotonicTime) {
        guard !hasFeedback else { return }
        lastReport = now
        loss.note(fraction: Double(fractionLost) / 256, sending: sending, at: now)
    }

    /// REMB.
    mutating func limited(to bitsPerSecond: UInt64, at now: MonotonicTime) {
        limit = (Double(min(bitsPerSecond, UInt64(LossControl.maximum))), now)
    }

    static let startBitsPerSecond = 300_000
    /// Whoever sends REMB sends it about once a second.
    private static let limitLifetime: Duration = .seconds(10)
    /// Receivers report every few seconds (RFC 3550 §6.2), and one report or two may be lost.
    private static let reportLifetime: Duration = .seconds(15)
    private static let longestSilence: Duration = .seconds(2)
}

/// What came of what was sent, over the last half second of the viewer's clock.
private struct DeliveredRate {
    private var window: [(arrival: Int64, byteCount: Int)] = []
    private var head = 0
    private var byteCount = 0
    private var isFull = false

    /// Nil until the half second is full.
    private(set) var bitsPerSecond: Double?

    mutating func note(_ packet: DeliveredPacket) {
        guard let arrival = packet.arrival else { return }
        window.append((arrival, packet.byteCount))
        byteCount += packet.byteCount
        while arrival &- window[head].arrival > Self.span || window.count - head > SentPackets.maximumCount {
            byteCount -= window[head].byteCount
            head += 1
            isFull = true
        }
        if isFull { bitsPerSecond = Double(byteCount * 8) / (Double(Self.span) / 1e9) }
        guard head >= Self.slack else { return }
        window.removeFirst(head)
        head = 0
    }

    private static let span: Int64 = 500_000_000
    /// What is over is cut off so many at a time.
    private static let slack = 64
}
