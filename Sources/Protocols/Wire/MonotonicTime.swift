/// A moment on the machine's monotonic clock, in nanoseconds. Protocol code is given it and never asks a clock.
@frozen
public struct MonotonicTime: InstantProtocol, Hashable, Sendable, BitwiseCopyable {
    /// Since some moment before the process began.
    public var nanoseconds: Int64

    /// From what the clock says.
    @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }
    /// Earlier than every moment that a clock gives.
    public static let zero = MonotonicTime(nanoseconds: 0)

    /// The moment `duration` later; saturates where nanoseconds end.
    @inlinable
    public func advanced(by duration: Duration) -> MonotonicTime {
        MonotonicTime(nanoseconds: nanoseconds.addingSaturating(duration.nanoseconds))
    }

    /// From this moment to `other`, negative when that is earlier; saturates.
    @inlinable
    public func duration(to other: MonotonicTime) -> Duration {
        .nanoseconds(other.nanoseconds.subtractingSaturating(nanoseconds))
    }

    /// Whether `left` is earlier.
    @inlinable public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }
    /// From `right` to `left`.
    @inlinable public static func - (left: MonotonicTime, right: MonotonicTime) -> Duration { right.duration(to: left) }
    /// The moment `right` later.
    @inlinable public static func + (left: MonotonicTime, right: Duration) -> MonotonicTime { left.advanced(by: right) }
    /// The moment `right` earlier.
    @inlinable public static func - (left: MonotonicTime, right: Duration) -> MonotonicTime { left.advanced(by: .zero - right) }
}

extension Duration {
    /// The whole duration in nanoseconds; saturates beyond 292 years.
    @inlinable
    public var nanoseconds: Int64 {
        // One division: `components` takes four times as long, and every packet's times come through here.
        let nanoseconds = attoseconds / 1_000_000_000
        return Int64(truncatingIfNeeded: min(max(nanoseconds, Int128(Int64.min)), Int128(Int64.max)))
    }

    /// Whole milliseconds, the fraction cut off.
    @inlinable public var milliseconds: Int64 { nanoseconds / 1_000_000 }
    /// For metrics and logs.
    @inlinable public var inSeconds: Double { Double(nanoseconds) / 1e9 }
}

/// Times of peers and files may be any number: what no clock says must not end the process.
extension Int64 {
    @inlinable func addingSaturating(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }

    @inlinable func subtractingSaturating(_ other: Int64) -> Int64 {
        let (difference, overflows) = subtractingReportingOverflow(other)
        return overflows ? (other < 0 ? .max : .min) : difference
    }
}
