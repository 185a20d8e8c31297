import Wire

/// What is missing of one source, and when to ask for it again (RFC 4585 §6.2.1, design note 18).
///
/// Bounded: 2,048 packets are looked back upon, 512 may be missing. No allocation per packet while nothing is missing.
struct LossTracker {
    enum Arrival: Equatable {
        case inOrder
        /// Missing until now; `wasAsked` when a NACK brought it, `age` since the gap was seen.
        case late(wasAsked: Bool, age: Duration)
        case duplicate
        /// A jump beyond all bookkeeping: it begins anew.
        case restarted
    }

    private struct Missing {
        var sequenceNumber: Int64
        var noticedAt: MonotonicTime
        var askedAt: MonotonicTime?
        var tries = 0
    }

    private var missing: [Missing] = []
    private var highest: Int64?
    /// One bit per number of the last 2,048: came.
    private var seen = [UInt64](repeating: 0, count: windowByWords)
    /// Smoothed time from a NACK to its packet.
    private(set) var roundTrip: Duration = .milliseconds(100)
    /// Packets given up since it was last taken.
    private(set) var givenUp = 0
    /// Packets that a NACK brought.
    private(set) var recovered = 0

    var missingCount: Int { missing.count }

    /// - Parameter sequenceNumber: extended.
    mutating func received(_ sequenceNumber: Int64, at now: MonotonicTime) -> Arrival {
        guard let highest else {
            restart(at: sequenceNumber)
            return .inOrder
        }
        if sequenceNumber > highest {
            let gap = sequenceNumber - highest - 1
            guard gap <= Self.maximumGap else {
                givenUp += missing.count
                restart(at: sequenceNumber)
                return .restarted
            }
            note(missing: (highest + 1)..<sequenceNumber, at: now)
            mark(sequenceNumber)
            self.highest = sequenceNumber
            return .inOrder
        }
        guard highest - sequenceNumber < Int64(Self.window), !isMarked(sequenceNumber) else { return .duplicate }
        mark(sequenceNumber)
        guard let index = missing.firstIndex(where: { $0.sequenceNumber == sequenceNumber }) else {
            return .late(wasAsked: false, age: .seconds(1))
        }
        return arrived(missing.remove(at: index), at: now)
    }

    private mutating func arrived(_ packet: Missing, at now: MonotonicTime) -> Arrival {
        guard let askedAt = packet.askedAt else { return .late(wasAsked: false, age: now - packet.noticedAt) }
        recovered += 1
        if packet.tries == 1 {
            roundTrip = roundTrip * 7 / 8 + (now - askedAt) / 8
            roundTrip = max(.milliseconds(10), min(roundTrip, .milliseconds(500)))
        }
        return .late(wasAsked: true, age: now - packet.noticedAt)
    }

    /// Gives up what has been missing for too long, or was asked for in vain.
    mutating func expire(at now: MonotonicTime) {
        let before = missing.count
        missing.removeAll {
            now - $0.noticedAt > Self.patience || $0.tries >= Self.maximumTries && now - ($0.askedAt ?? now) > roundTrip * 2
        }
        givenUp += before - missing.count
    }

    /// Appends the numbers to ask for now: reordered ones get 10 ms or 3 packets, then one try per round trip, 5 at most in 1 s.
    mutating func due(at now: MonotonicTime, into numbers: inout [UInt16]) {
        expire(at: now)
        guard !missing.isEmpty, let highest else { return }
        for index in missing.indices where numbers.count < Self.maximumPerRequest {
            let packet = missing[index]
            guard packet.tries < Self.maximumTries else { continue }
            if let askedAt = packet.askedAt {
                guard now - askedAt >= roundTrip else { continue }
            } else {
                guard now - packet.noticedAt >= Self.reorderTime || highest - packet.sequenceNumber >= 3 else { continue }
            }
            missing[index].askedAt = now
            missing[index].tries += 1
            numbers.append(UInt16(truncatingIfNeeded: packet.sequenceNumber))
        }
    }

    /// How many were given up since the last call: beyond NACK there is only a keyframe.
    mutating func takeGivenUp() -> Int {
        defer { givenUp = 0 }
        return givenUp
    }

    /// Nobody will be asked: what is missing stays so.
    mutating func forget() { missing.removeAll(keepingCapacity: true) }

    private mutating func note(missing numbers: Range<Int64>, at now: MonotonicTime) {
        guard !numbers.isEmpty else { return }
        // The oldest go together: one by one, each would move all the others.
        let surplus = min(missing.count, max(0, missing.count + numbers.count - Self.maximumMissing))
        missing.removeFirst(surplus)
        givenUp += surplus
        for number in numbers {
            clear(number)
            missing.append(Missing(sequenceNumber: number, noticedAt: now))
        }
    }

    private mutating func restart(at number: Int64) {
        missing.removeAll(keepingCapacity: true)
        for index in seen.indices { seen[index] = .max }  // what came before the first is no loss
        highest = number
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
    private static let maximumPerRequest = 128
    private static let reorderTime: Duration = .milliseconds(10)
    private static let patience: Duration = .seconds(1)
}
