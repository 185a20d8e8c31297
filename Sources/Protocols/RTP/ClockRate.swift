/// RTP clock rates of the formats we carry, ticks a second.
public enum ClockRate {
    /// RFC 6184 §8.2.1.
    public static let video: Int64 = 90_000
    /// RFC 7587 §4.1: Opus always runs on 48,000.
    public static let audio: Int64 = 48_000
}
