import RTCP
import RTP
import Wire

/// A packet that a viewer's feedback tells of: when it went, when it came, how large it was.
struct DeliveredPacket: Equatable {
    /// The transport-wide number, unwrapped.
    var number: Int64
    var sent: MonotonicTime
    /// By the viewer's clock, nanoseconds since some moment; nil when it did not come.
    var arrival: Int64?
    /// The whole datagram's, without IP and UDP.
    var byteCount: Int
}

/// What was sent to one viewer lately, by transport-wide number, until its feedback tells of it
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01).
struct SentPackets {
    /// Eight bytes: a viewer may have two thousand of them. Whose number it is follows from its place.
    private struct Entry {
        /// Microseconds, which wrap after 71 minutes.
        var sent: UInt32 = 0
        /// 0 when feedback has told of it, or nothing was sent.
        var byteCount: UInt16 = 0

        /// Whether feedback about it is still to come.
        /// - Parameter now: as `sent` is.
        func isAwaited(at now: UInt32) -> Bool { byteCount > 0 && now &- sent < SentPackets.patienceMicroseconds }
    }

    private var entries = [Entry](repeating: Entry(), count: initialCount)
    /// The number that the next packet gets; ours count from 0 and are sent modulo 65,536.
    private(set) var next: Int64 = 0
    /// When the last one went.
    private var latest = MonotonicTime.zero
    private var referenceTime = WrappingReferenceTime()

    /// A packet goes out under the number `next`.
    /// - Parameter now: not before that of the packet before it.
    mutating func add(byteCount: Int, at now: MonotonicTime) {
        let sent = Self.microseconds(now)
        if entries[place(of: next)].isAwaited(at: sent), entries.count < Self.maximumCount { grow() }
        entries[place(of: next)] = Entry(sent: sent, byteCount: UInt16(clamping: byteCount))
        (next, latest) = (next + 1, now)
    }

    /// The oldest one's feedback has not come yet.
    private mutating func grow() {
        let numbers = (next - Int64(entries.count))..<next
        let kept = numbers.map { entries[place(of: $0)] }
        entries = [Entry](repeating: Entry(), count: entries.count * 2)
        for (number, entry) in zip(numbers, kept) { entries[place(of: number)] = entry }
    }

    /// What feedback says of packets that are remembered, in the order of their numbers. A packet is told of once.
    mutating func take(_ feedback: TransportWideFeedback) -> [DeliveredPacket] {
        let newest = next - 1
        let distance = Int64(Int16(bitPattern: feedback.baseSequenceNumber &- UInt16(truncatingIfNeeded: newest)))
        var (number, arrival) = (newest + distance, referenceTime.unwrap(feedback.referenceTime))
        var delivered: [DeliveredPacket] = []
        delivered.reserveCapacity(feedback.arrivalDeltas.count)
        for delta in feedback.arrivalDeltas {
            // Wrapping: the reference time is the viewer's to choose.
            if let delta { arrival &+= Int64(delta) * TransportWideFeedback.deltaUnit }
            if let (sent, byteCount) = take(number) {
                delivered.append(
                    DeliveredPacket(number: number, sent: sent, arrival: delta.map { _ in arrival }, byteCount: byteCount))
            }
            number += 1
        }
        return delivered
    }

    private mutating func take(_ number: Int64) -> (sent: MonotonicTime, byteCount: Int)? {
        guard number >= 0, number < next, number >= next - Int64(entries.count) else { return nil }
        let place = place(of: number)
        let entry = entries[place]
        guard entry.byteCount > 0 else { return nil }
        entries[place].byteCount = 0
        let age = Duration.microseconds(Self.microseconds(latest) &- entry.sent)
        return (latest - age, Int(entry.byteCount))
    }

    private static func microseconds(_ time: MonotonicTime) -> UInt32 { UInt32(truncatingIfNeeded: time.nanoseconds / 1_000) }

    /// The count is a power of two.
    private func place(of number: Int64) -> Int { Int(number) & (entries.count - 1) }

    /// A fifth of a second at 2.5 Mbit/s. Where feedback takes longer, there is more room.
    static let initialCount = 64
    /// Two seconds at 8.5 Mbit/s.
    static let maximumCount = 2_048
    /// Feedback about older ones says nothing of now.
    private static let patienceMicroseconds: UInt32 = 2_000_000
}

/// The reference time of feedback, 24 bits of 64 ms, unwrapped to nanoseconds.
private struct WrappingReferenceTime {
    private var last: Int64?

    mutating func unwrap(_ reference: Int32) -> Int64 {
        let step = last.map { Int64(((reference &- Int32(truncatingIfNeeded: $0)) << 8) >> 8) } ?? Int64(reference)
        let unwrapped = (last ?? 0) &+ step
        last = unwrapped
        return unwrapped &* TransportWideFeedback.referenceUnit
    }
}
