import Wire

/// Of which keyframes thumbnails are made: of the first one, and then of the first in each interval. A value.
struct ThumbnailSchedule: Equatable {
    private let interval: Duration
    private var due: MonotonicTime?

    init(interval: Duration) { self.interval = interval }

    func isDue(at now: MonotonicTime) -> Bool { due.map { now + Self.tolerance >= $0 } ?? true }

    /// One was made. The next keeps to the grid, so that keyframes every 8 s and an interval of 10 s give one every 10 s.
    mutating func taken(at now: MonotonicTime) {
        let next = due.map { $0 + interval } ?? now + interval
        due = next + Self.tolerance <= now ? now + interval : next
    }

    /// An encoder's keyframes are looked at ten times a second, and its clock is not ours.
    private static let tolerance = Duration.milliseconds(250)
}
