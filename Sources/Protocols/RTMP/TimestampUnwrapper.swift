/// Turns the 32-bit millisecond stamps of a connection into media time that never wraps.
///
/// One serves all tracks, so that both are in the same turn. Stamps within half the range of the last one count as near it.
/// Some encoders keep 31 bits: a step from just below 2^31 to just above 0 shows it.
struct TimestampUnwrapper: Sendable {
    /// How close to the ends of the 31-bit range a step must be to be its wrap: less than any real jump is likely to hit.
    static let wrapWindow: UInt32 = 60_000
    /// Nine years: a time beyond begins anew, before the steps of a hostile encoder add up to more than 64 bits hold, also
    /// of nanoseconds and their multiples.
    static let farthest: UInt64 = 1 << 38

    private var last: Int64?
    private var bitCount: UInt32 = 32

    /// Milliseconds of media time; the first answer is the first stamp itself.
    mutating func unwrap(_ timestamp: UInt32) -> Int64 {
        guard let last, last.magnitude < Self.farthest else {
            self.last = Int64(timestamp)
            return Int64(timestamp)
        }
        let previous = UInt32(truncatingIfNeeded: last)
        if bitCount == 32, timestamp < Self.wrapWindow, previous < 1 << 31, previous >= 1 << 31 - Self.wrapWindow {
            bitCount = 31
        }
        let unused = 32 - bitCount
        let step = Int32(bitPattern: (timestamp &- previous) << unused) >> Int32(unused)
        self.last = last + Int64(step)
        return last + Int64(step)
    }
}
