import Wire

/// Whether a track's media flows: one that was never begun or falls silent while the session lives is muted, not ended.
struct TrackFlow {
    private var lastForwarded: MonotonicTime
    private var isMuted = false

    init(at now: MonotonicTime) { lastForwarded = now }

    /// Media goes on.
    /// - Returns: whether it was muted.
    mutating func forwarded(at now: MonotonicTime) -> Bool {
        defer { isMuted = false }
        lastForwarded = now
        return isMuted
    }

    /// Nothing may have gone on for long.
    /// - Returns: whether it is muted from now on.
    mutating func fellSilent(at now: MonotonicTime) -> Bool {
        guard !isMuted, now - lastForwarded >= Self.silence else { return false }
        isMuted = true
        return true
    }

    private static let silence: Duration = .seconds(2)
}
