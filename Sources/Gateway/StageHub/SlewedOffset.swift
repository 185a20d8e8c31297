import Wire

/// An offset in nanoseconds that moves toward its target no faster than its rate; the first target is taken as it is.
struct SlewedOffset {
    private(set) var value: Int64?
    private var moved = MonotonicTime.zero

    mutating func approach(_ target: Int64, at now: MonotonicTime, rate: Int64 = normalRate) {
        guard let value else {
            (self.value, moved) = (target, now)
            return
        }
        let elapsed = max(0, now.nanoseconds - moved.nanoseconds)
        let reach = Int64(Double(elapsed) * Double(rate) / 1e9)
        guard reach > 0 else { return }
        self.value = value &+ max(-reach, min(reach, target &- value))
        moved = now
    }

    /// Nanoseconds a second: 0.5 ms/s, a change of rate that no receiver's clock recovery notices.
    static let normalRate: Int64 = 500_000
}
