import Wire

/// Since when something holds without a break: each packet tells whether it does still.
///
///     late.note(true, at: first)
///     late.note(true, at: first + .seconds(2))
///     late.lasts(.seconds(1), at: first + .seconds(2))  // true: since `first`
///     late.note(false, at: first + .seconds(3))  // over
struct Streak {
    /// Nil while it does not hold.
    private(set) var start: MonotonicTime?

    var holds: Bool { start != nil }

    func lasts(_ span: Duration, at now: MonotonicTime) -> Bool { start.map { now - $0 >= span } ?? false }

    mutating func note(_ holds: Bool, at now: MonotonicTime) { start = holds ? start ?? now : nil }
}
