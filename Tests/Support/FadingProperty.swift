public import Testing
public import Wire

/// What every table by source must hold: it never keeps more than its maximum, takes every newcomer however full it is, and is
/// empty two lifetimes after the last of them, by time alone.
///
/// - Parameters:
///   - touch: has the source with this number, at least 2^24, do what the table remembers; answers whether it was admitted.
///   - count: what the table remembers.
public func expectFading(
    maximum: Int, lifetime: Duration, sourceLocation: SourceLocation = #_sourceLocation,
    _ touch: (_ source: UInt32, _ now: MonotonicTime) -> Bool, count: (_ now: MonotonicTime) -> Int
) {
    var now = MonotonicTime(nanoseconds: 1_000_000_000)
    var (refused, most) = (0, 0)
    // Not loopback, which some limits do not count.
    for number in 0..<UInt32(maximum * 2 + 100) where !touch((1 << 24) + number, now) { refused += 1 }
    most = max(most, count(now))
    #expect(refused == 0, "newcomers are admitted while it is full", sourceLocation: sourceLocation)
    #expect((maximum / 2...maximum).contains(most), "\(most) entries", sourceLocation: sourceLocation)
    now = now + lifetime * 2
    #expect(count(now) == 0, "it forgets by time alone", sourceLocation: sourceLocation)
    #expect(touch(1 << 24, now) && count(now) == 1, sourceLocation: sourceLocation)
}
