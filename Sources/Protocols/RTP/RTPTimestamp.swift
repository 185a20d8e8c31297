/// Unwraps the 32-bit RTP timestamp to 64 bits: the nearest extended time to the last one given.
///
/// Wraps every 13.3 hours at 90,000 and every 24.9 hours at 48,000 a second.
public struct RTPTimestampUnwrapper: Sendable {
    /// Twelve years at 90,000 a second: a time beyond begins anew, before hostile steps add up to more than 64 bits hold.
    static let farthest: UInt64 = 1 << 45

    /// The extended time of the last timestamp given to `unwrap(_:)`; nil before the first.
    public private(set) var last: Int64?

    /// Before the first packet.
    public init() {}

    /// The extended time of `timestamp`; the first one stays as it is.
    public mutating func unwrap(_ timestamp: UInt32) -> Int64 {
        let extended = extend(timestamp)
        last = extended
        return extended
    }

    /// The extended time of a timestamp near the last one (a sender report's), without moving on to it.
    public func extend(_ timestamp: UInt32) -> Int64 {
        guard let last, last.magnitude < Self.farthest else { return Int64(timestamp) }
        return last + Int64(Int32(bitPattern: timestamp &- UInt32(truncatingIfNeeded: last)))
    }
}

/// RTP clock rates of the formats we carry, ticks a second.
public enum ClockRate {
    /// RFC 6184 §8.2.1.
    public static let video: Int64 = 90_000
    /// RFC 7587 §4.1: Opus always runs on 48,000.
    public static let audio: Int64 = 48_000

    /// The nearest tick: ticks survive the way to nanoseconds and back.
    @inlinable
    public static func ticks(ofNanoseconds nanoseconds: Int64, at rate: Int64) -> Int64 {
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let half: Int64 = rest < 0 ? -500_000_000 : 500_000_000
        return seconds * rate + (rest * rate + half) / 1_000_000_000
    }

    /// Whole nanoseconds, the fraction cut off. Split so that no product overflows: unwrapped timestamps of hostile publishers
    /// may be large.
    @inlinable
    public static func nanoseconds(ofTicks ticks: Int64, at rate: Int64) -> Int64 {
        let (seconds, rest) = ticks.quotientAndRemainder(dividingBy: rate)
        return seconds &* 1_000_000_000 &+ rest * 1_000_000_000 / rate
    }
}
