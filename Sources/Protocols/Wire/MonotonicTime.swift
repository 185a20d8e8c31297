/// A moment on the machine's monotonic clock, in nanoseconds. Protocol code is given it and never asks a clock.
@frozen
public struct MonotonicTime: InstantProtocol, Hashable, Sendable, BitwiseCopyable {
    public var nanoseconds: Int64

    @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }
    public static let zero = MonotonicTime(nanoseconds: 0)

    @inlinable
    public func advanced(by duration: Duration) -> MonotonicTime {
        MonotonicTime(nanoseconds: nanoseconds + duration.nanoseconds)
    }

    @inlinable
    public func duration(to other: MonotonicTime) -> Duration { .nanoseconds(other.nanoseconds - nanoseconds) }

    @inlinable public static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }
    @inlinable public static func - (left: MonotonicTime, right: MonotonicTime) -> Duration { right.duration(to: left) }
    @inlinable public static func + (left: MonotonicTime, right: Duration) -> MonotonicTime { left.advanced(by: right) }
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

    @inlinable public var milliseconds: Int64 { nanoseconds / 1_000_000 }
    @inlinable public var inSeconds: Double { Double(nanoseconds) / 1e9 }
}

/// A moment of civil time: nanoseconds since 1970-01-01 UTC. For sender reports, tokens and events; never for timers.
@frozen
public struct WallTime: Hashable, Comparable, Codable, Sendable, BitwiseCopyable {
    public var nanosecondsSince1970: Int64

    @inlinable public init(nanosecondsSince1970: Int64) { self.nanosecondsSince1970 = nanosecondsSince1970 }
    @inlinable public init(secondsSince1970: Int64) { nanosecondsSince1970 = secondsSince1970 * 1_000_000_000 }

    @inlinable public var secondsSince1970: Int64 { nanosecondsSince1970 / 1_000_000_000 }
    @inlinable public var millisecondsSince1970: Int64 { nanosecondsSince1970 / 1_000_000 }

    /// The 64-bit NTP timestamp of RTCP sender reports (RFC 3550 §4): seconds since 1900 in the high, fraction in the low half.
    public var ntp: UInt64 {
        let seconds = UInt64(bitPattern: nanosecondsSince1970 / 1_000_000_000 + 2_208_988_800)
        let fraction = (UInt64(nanosecondsSince1970 % 1_000_000_000) << 32) / 1_000_000_000
        return seconds << 32 | fraction
    }

    @inlinable public static func < (left: WallTime, right: WallTime) -> Bool {
        left.nanosecondsSince1970 < right.nanosecondsSince1970
    }
    @inlinable
    public static func + (left: WallTime, right: Duration) -> WallTime {
        WallTime(nanosecondsSince1970: left.nanosecondsSince1970 + right.nanoseconds)
    }
    @inlinable
    public static func - (left: WallTime, right: WallTime) -> Duration {
        .nanoseconds(left.nanosecondsSince1970 - right.nanosecondsSince1970)
    }
}
