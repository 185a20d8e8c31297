import Wire

/// When to ask a WHIP encoder for a keyframe (docs/design.md 5.6): never periodically, and not for ever.
struct KeyframeRequests {
    private var isWanted = false
    private var lastSent: MonotonicTime?
    private var unanswered = 0
    /// Three requests went unanswered: OBS and ffmpeg have no handler for them.
    private(set) var isDeaf = false
    private var probe = KeyframeProbe()
    /// Asked to find out, it sent its keyframe when it would have sent it anyway.
    var ignoresRequests: Bool { probe.ignoresRequests }

    /// The start gate, unrecovered loss or the router wants one.
    mutating func want() { isWanted = true }

    /// A keyframe came.
    mutating func keyframeCame(at now: MonotonicTime) {
        (isWanted, unanswered, isDeaf) = (false, 0, false)
        probe.keyframeCame(at: now)
    }

    /// Whether to send a PLI now: at most one in 500 ms, then after 1, 2 and 4 s while unanswered.
    mutating func isDue(at now: MonotonicTime) -> Bool {
        if probe.isDue(at: now) { isWanted = true }
        guard isWanted, !isDeaf else { return false }
        if let lastSent {
            let pause: Duration = unanswered == 0 ? .milliseconds(500) : .seconds(1 << (unanswered - 1))
            guard now - lastSent >= pause else { return false }
        }
        guard unanswered < Self.maximumUnanswered else {
            isDeaf = true
            return false
        }
        lastSent = now
        unanswered += 1
        return true
    }

    private static let maximumUnanswered = 3
}
