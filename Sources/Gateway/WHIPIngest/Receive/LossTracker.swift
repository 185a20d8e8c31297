import Wire

/// What is missing of one source, and when to ask for it again (RFC 4585 §6.2.1, docs/design.md 5.6).
///
/// Bounded: 2,048 packets are looked back upon, 512 may be missing. No allocation per packet while nothing is missing.
struct LossTracker {
    enum Arrival: Equatable {
        case inOrder
        /// Missing until now; `wasAsked` when a NACK brought it.
        case late(wasAsked: Bool)
        /// Missing until now, and so late that receivers would only wait for it: it counts as lost.
        case tooLate
        case duplicate
        /// It has a missing number and a time at which that cannot have been sent: another layer's packet, sent in reply to a
        /// request for one of this layer (libdatachannel 0.24 keeps those of all layers by number alone).
        case foreign
        /// A jump beyond all bookkeeping: it begins anew.
        case restarted
    }

    /// To a NACK: how long it took, from the first one for its packet, and when it came.
    private typealias Answer = (time: Duration, arrival: MonotonicTime)

    private struct Missing {
        var sequenceNumber: Int64
        /// RTP times of the packets around the gap.
        var before: UInt32
        var after: UInt32
        var noticedAt: MonotonicTime
        var firstAskedAt: MonotonicTime?
        var askedAt: MonotonicTime?
        var tries = 0

        /// It was asked for five times, and its answer would be here: others have come since it is missing, and twice as soon.
        func isInVain(after answer: Answer?, at now: MonotonicTime) -> Bool {
            guard tries == LossTracker.maximumTries, let askedAt, let answer, answer.arrival >= noticedAt else { return false }
            return now - askedAt > max(answer.time * 2, LossTracker.assumedPause)
        }

        /// Encoders that reorder pictures leave the gap's bounds by little.
        func canHave(_ timestamp: UInt32) -> Bool {
            let (place, gap) = (Int32(bitPattern: timestamp &- before), Int32(bitPattern: after &- before))
            return min(0, gap) &- Self.reorderedTicks <= place && place <= max(0, gap) &+ Self.reorderedTicks
        }

        /// A tenth of a second of video.
        private static let reorderedTicks: Int32 = 9_000
    }

    private var missing: [Missing] = []
    private var highest: Int64?
    /// Of the packet with that number.
    private var highestTimestamp: UInt32 = 0
    /// Where the numbers began, at first or after a jump.
    private var first: (sequenceNumber: Int64, arrival: MonotonicTime) = (0, .zero)
    /// One bit per number of the last 2,048: came. Empty before the first packet, as it stays of a source of retransmissions.
    private var seen: [UInt64] = []
    /// Smoothed time from the first NACK for a packet to that packet; nil before the first.
    private(set) var roundTrip: Duration?
    private var lastAnswer: Answer?
    /// Packets that have not come, or too late: given up, or left out by a jump.
    private(set) var lost = 0
    /// How many of them `takeLost` has told.
    private var toldLost = 0
    /// Packets that a NACK brought in time.
    private(set) var recovered = 0

    var missingCount: Int { missing.count }

    func isMissing(_ sequenceNumber: Int64) -> Bool { missing.contains { $0.sequenceNumber == sequenceNumber } }

    /// - Parameters:
    ///   - sequenceNumber: extended.
    ///   - timestamp: of RTP, as received.
    ///   - canAnswer: false for what was only overtaken, where that shows.
    mutating func received(
        _ sequenceNumber: Int64, timestamp: UInt32, canAnswer: Bool = true, at now: MonotonicTime
    ) -> Arrival {
        guard let highest else {
            restart(at: sequenceNumber, timestamp, now)
            return .inOrder
        }
        if sequenceNumber > highest { return advanced(from: highest, to: sequenceNumber, timestamp, at: now) }
        guard highest - sequenceNumber < Int64(Self.window), !isMarked(sequenceNumber) else { return .duplicate }
        if sequenceNumber < first.sequenceNumber {
            mark(sequenceNumber)
            return Self.late(wasAsked: false, age: now - first.arrival)
        }
        guard let index = missing.firstIndex(where: { $0.sequenceNumber == sequenceNumber }) else {
            // It had been given up.
            mark(sequenceNumber)
            return .tooLate
        }
        guard missing[index].canHave(timestamp) else { return .foreign }
        mark(sequenceNumber)
        return arrived(missing.remove(at: index), canAnswer: canAnswer, at: now)
    }

    private mutating func advanced(
        from highest: Int64, to sequenceNumber: Int64, _ timestamp: UInt32, at now: MonotonicTime
    ) -> Arrival {
        let gap = sequenceNumber - highest - 1
        guard gap <= Self.maximumGap else {
            lost += missing.count + Int(gap)
            restart(at: sequenceNumber, timestamp, now)
            return .restarted
        }
        note(missing: (highest + 1)..<sequenceNumber, until: timestamp, at: now)
        mark(sequenceNumber)
        (self.highest, highestTimestamp) = (sequenceNumber, timestamp)
        return .inOrder
    }

    private mutating func arrived(_ packet: Missing, canAnswer: Bool, at now: MonotonicTime) -> Arrival {
        let askedAt = canAnswer ? packet.firstAskedAt : nil
        if let askedAt {
            // Which of several requests it answers nobody knows. By a later one, a way that became longer would never show.
            let sample = min(now - askedAt, Self.maximumLateness)
            roundTrip = roundTrip.map { $0 * 7 / 8 + sample / 8 } ?? sample
            lastAnswer = (sample, now)
        }
        let arrival = Self.late(wasAsked: askedAt != nil, age: now - packet.noticedAt)
        if arrival == .tooLate { lost += 1 } else if askedAt != nil { recovered += 1 }
        return arrival
    }

    /// - Parameter age: since the gap was seen.
    private static func late(wasAsked: Bool, age: Duration) -> Arrival {
        age > maximumLateness ? .tooLate : .late(wasAsked: wasAsked)
    }

    /// Gives up what would come too late, and what was asked for in vain.
    mutating func expire(at now: MonotonicTime) {
        let (before, answer) = (missing.count, lastAnswer)
        missing.removeAll { now - $0.noticedAt > Self.maximumLateness || $0.isInVain(after: answer, at: now) }
        lost += before - missing.count
    }

    /// Appends the numbers to ask for now: reordered ones get 10 ms or 3 packets, then 5 tries at
    /// most, while an answer is in time.
    /// - Parameter known: the round trip, until an answer tells it.
    mutating func due(at now: MonotonicTime, knowing known: Duration? = nil, into numbers: inout [UInt16]) {
        expire(at: now)
        guard !missing.isEmpty, let highest else { return }
        // A handshake whose flight was lost seems to have taken a second.
        let way = roundTrip ?? known.map { min($0, Self.maximumLateness / 2) }
        let (pause, last) = (way.map(Self.pause) ?? Self.assumedPause, Self.maximumLateness - (way ?? .zero))
        for index in missing.indices where numbers.count < Self.maximumPerRequest {
            let packet = missing[index]
            guard packet.tries < Self.maximumTries else { continue }
            if let askedAt = packet.askedAt {
                guard now - askedAt >= pause, now - packet.noticedAt <= last else { continue }
            } else {
                guard now - packet.noticedAt >= Self.reorderTime || highest - packet.sequenceNumber >= 3 else { continue }
                missing[index].firstAskedAt = now
            }
            missing[index].askedAt = now
            missing[index].tries += 1
            numbers.append(UInt16(truncatingIfNeeded: packet.sequenceNumber))
        }
    }

    /// Between two requests for a packet: a quarter more than the mean, since half of the answers take longer than that; on a
    /// long way no more than leaves a second answer its time.
    private static func pause(on way: Duration) -> Duration {
        max(shortestPause, min(way, .milliseconds(50)), min(way * 5 / 4, maximumLateness * 9 / 10 - way))
    }

    /// How many were lost since the last call: beyond NACK there is only a keyframe.
    mutating func takeLost() -> Int {
        defer { toldLost = lost }
        return lost - toldLost
    }

    /// The session is over: what is missing now never comes.
    mutating func giveUp() {
        lost += missing.count
        missing.removeAll()
    }

    private mutating func note(missing numbers: Range<Int64>, until timestamp: UInt32, at now: MonotonicTime) {
        guard !numbers.isEmpty else { return }
        // The oldest go together: one by one, each would move all the others.
        let surplus = min(missing.count, max(0, missing.count + numbers.count - Self.maximumMissing))
        missing.removeFirst(surplus)
        lost += surplus
        for number in numbers {
            clear(number)
            missing.append(
                Missing(sequenceNumber: number, before: highestTimestamp, after: timestamp, noticedAt: now))
        }
    }

    private mutating func restart(at number: Int64, _ timestamp: UInt32, _ now: MonotonicTime) {
        missing.removeAll(keepingCapacity: true)
        // What came before the first is no loss; a few that it overtook may still come.
        seen = Array(repeating: .max, count: Self.windowByWords)
        for overtaken in 1...Self.maximumOvertaken { clear(number - overtaken) }
        (highest, highestTimestamp, first) = (number, timestamp, (number, now))
        mark(number)
    }

    private func isMarked(_ number: Int64) -> Bool {
        let position = Int(truncatingIfNeeded: number) & (Self.window - 1)
        return seen[position >> 6] >> UInt64(position & 63) & 1 == 1
    }

    private mutating func mark(_ number: Int64) {
        let position = Int(truncatingIfNeeded: number) & (Self.window - 1)
        seen[position >> 6] |= 1 << UInt64(position & 63)
    }

    private mutating func clear(_ number: Int64) {
        let position = Int(truncatingIfNeeded: number) & (Self.window - 1)
        seen[position >> 6] &= ~(1 << UInt64(position & 63))
    }

    /// 2 s at 8.5 Mbit/s.
    static let window = 2_048
    private static let windowByWords = window / 64
    static let maximumMissing = 512
    private static let maximumGap = Int64(maximumMissing)
    private static let maximumTries = 5
    /// A keyframe's parameter sets and first slices, by another way than the rest.
    private static let maximumOvertaken: Int64 = 16
    private static let maximumPerRequest = 128
    /// Between two requests for a packet, while nothing is known of the way.
    private static let assumedPause: Duration = .milliseconds(100)
    private static let shortestPause: Duration = .milliseconds(10)
    private static let reorderTime: Duration = .milliseconds(10)
    private static let maximumLateness: Duration = .milliseconds(500)
}
