/// Pauses between attempts: doubling, and each shortened by chance to between half and the whole of itself, so that the nodes
/// of a platform do not come back all at once.
struct Backoff: Equatable {
    let shortest: Duration
    let longest: Duration
    private(set) var failures = 0

    init(shortest: Duration, longest: Duration) { (self.shortest, self.longest) = (shortest, longest) }

    /// - Parameter chance: at least 0, below 1.
    mutating func next(chance: Double) -> Duration {
        let doublings = min(failures, 16)
        failures += 1
        let pause = min(longest, shortest * (1 << doublings))
        return pause * (0.5 + chance / 2)
    }

    mutating func reset() { failures = 0 }
}
