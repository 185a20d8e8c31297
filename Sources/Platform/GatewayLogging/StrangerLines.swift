import Wire

/// How many lines strangers may cause: ten a second of each kind. What is left out is counted, and one line gives
/// the count when the second is over: so it counts by seconds, not by an `Allowance`. Sans-IO.
///
/// Kinds are literals of the program (`Log.strangerEvent` takes no other), so that there are few.
struct StrangerLines {
    /// Lines of one kind in one second that are written.
    static let maximumPerSecond = 10

    struct Sum: Equatable {
        var event: String
        var count: Int
    }

    private struct Second {
        var start: MonotonicTime
        var written = 0
        var leftOut = 0
    }

    private var seconds: [String: Second] = [:]

    /// When the next sum is due; nil while nothing is left out.
    var nextSum: MonotonicTime? { seconds.values.filter { $0.leftOut > 0 }.map { $0.start + .seconds(1) }.min() }

    /// Whether a line of this kind is to be written now.
    mutating func admits(_ event: String, at now: MonotonicTime) -> Bool {
        var second = seconds[event] ?? Second(start: now)
        // A second with lines left out lasts until its sum is taken.
        if second.leftOut == 0, now - second.start >= .seconds(1) { second = Second(start: now) }
        defer { seconds[event] = second }
        guard second.written < Self.maximumPerSecond else {
            second.leftOut += 1
            return false
        }
        second.written += 1
        return true
    }

    /// What was left out in the seconds that are over; each is returned once.
    mutating func takeSums(at now: MonotonicTime) -> [Sum] {
        let over = seconds.filter { now - $0.value.start >= .seconds(1) }
        for event in over.keys { seconds[event] = nil }
        return over.filter { $0.value.leftOut > 0 }.map { Sum(event: $0.key, count: $0.value.leftOut) }
            .sorted { $0.event < $1.event }
    }
}
