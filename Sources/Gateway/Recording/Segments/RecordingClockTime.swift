import RTP
import Wire

/// A moment of one of a recording's two clocks. Both count ticks of 90 kHz, as the video's RTP time does; moments of one differ
/// by ticks, and the other's moments are another type. Its operators wrap: stamps may be any number.
protocol RecordingClockTime: Comparable {
    var ticks: Int64 { get }
    init(ticks: Int64)
}

extension RecordingClockTime {
    static func + (left: Self, right: Int64) -> Self { Self(ticks: left.ticks &+ right) }
    static func - (left: Self, right: Self) -> Int64 { left.ticks &- right.ticks }
    static func < (left: Self, right: Self) -> Bool { left.ticks < right.ticks }
}

/// As one encoder's stamps say it, for both tracks: it begins anywhere, jumps, and begins anew with the next encoder.
struct EncoderTime: RecordingClockTime {
    var ticks: Int64

    /// Whether an honest encoder gets there.
    var isPlausible: Bool { ticks.magnitude <= Self.largest }

    /// Twelve years: no product of such a time overflows.
    static let largest: UInt64 = 1 << 45
}

/// In the recording's files: from its first sample on, over jumps, restarts and encoders.
struct FileTime: RecordingClockTime {
    var ticks: Int64

    static let zero = FileTime(ticks: 0)
}

extension Duration {
    static func ticks(_ count: Int64) -> Duration { .nanoseconds(ClockRate.nanoseconds(ofTicks: count, at: ClockRate.video)) }

    /// The nearest tick, as pictures' RTP times are made of media times.
    var ticks: Int64 { ClockRate.ticks(ofNanoseconds: nanoseconds, at: ClockRate.video) }
}
