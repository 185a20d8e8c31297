import RTCP
import RTP
import Wire

/// When packets came, by their transport-wide number, until the next feedback takes them
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01).
struct TransportArrivals {
    private var numbers = ExtendedSequenceNumber()
    /// Arrival by number from `next` on; nil has not come.
    private var arrivals: [MonotonicTime?] = []
    /// The first number that the next feedback tells of.
    private var next: Int64?
    private var feedbackCount: UInt8 = 0
    private(set) var lastFeedback: MonotonicTime = .zero

    mutating func received(_ number: UInt16, at now: MonotonicTime) {
        let extended = numbers.unwrap(number)
        let first = next ?? extended
        if next == nil { next = extended }
        // Older than the last feedback: it has been told as missing, and senders cope.
        guard extended >= first else { return }
        let index = Int(extended - first)
        guard index < Self.maximumWaiting else {
            arrivals.removeAll(keepingCapacity: true)
            next = extended
            arrivals.append(now)
            return
        }
        while arrivals.count <= index { arrivals.append(nil) }
        if arrivals[index] == nil { arrivals[index] = now }
    }

    /// The feedback that is due: every 50 ms when much came, else every 100 ms.
    mutating func feedback(at now: MonotonicTime, senderSSRC: UInt32, mediaSSRC: UInt32) -> TransportWideFeedback? {
        let period: Duration = arrivals.count >= Self.fastCount ? .milliseconds(50) : .milliseconds(100)
        // We are asked every 50 ms, by a timer that may be a little early.
        guard let base = next, let first = arrivals.first(where: { $0 != nil }) ?? nil, now - lastFeedback >= period - Self.slack
        else {
            return nil
        }
        // 64 ms units, then 250 µs steps: rounded down together, so that errors do not add up.
        let reference = first.nanoseconds / TransportWideFeedback.referenceUnit
        let deltas = deltas(since: reference)
        guard !deltas.isEmpty else { return nil }
        arrivals.removeFirst(deltas.count)
        next = base + Int64(deltas.count)
        lastFeedback = now
        defer { feedbackCount &+= 1 }
        return TransportWideFeedback(
            senderSSRC: senderSSRC, mediaSSRC: mediaSSRC, baseSequenceNumber: UInt16(truncatingIfNeeded: base),
            referenceTime: Int32(truncatingIfNeeded: reference & 0xFF_FFFF), feedbackCount: feedbackCount, arrivalDeltas: deltas)
    }

    /// As far as one feedback can tell.
    private func deltas(since reference: Int64) -> [Int16?] {
        var previous = reference * (TransportWideFeedback.referenceUnit / TransportWideFeedback.deltaUnit)
        var deltas: [Int16?] = []
        deltas.reserveCapacity(arrivals.count)
        for arrival in arrivals {
            guard let arrival else {
                deltas.append(nil)
                continue
            }
            let ticks = arrival.nanoseconds / TransportWideFeedback.deltaUnit
            guard let delta = Int16(exactly: ticks - previous) else { break }  // over 8 s: the next feedback tells of it
            deltas.append(delta)
            previous = ticks
        }
        return deltas
    }

    private static let fastCount = 40
    /// Our timer may be this early.
    private static let slack: Duration = .milliseconds(5)
    /// A flight of 100 ms at 8.5 Mbit/s is 90 packets; a jump beyond this begins anew.
    private static let maximumWaiting = 1_024
}
