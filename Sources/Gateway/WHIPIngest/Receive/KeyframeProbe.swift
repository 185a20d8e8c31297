import Wire

/// Finds out whether an encoder heeds requests for keyframes, where its keyframes are so far apart that it matters.
///
/// OBS offers `nack pli` and has no handler for it (32.2.2): with its keyframe interval at "auto" whoever comes to watch waits
/// for up to 8.3 s. A browser's keyframes are as far apart, and come within a round trip when asked. So the first time that
/// none has come for longer than the contract's 2 s one is asked for: late twice, the encoder does not listen.
struct KeyframeProbe {
    private(set) var ignoresRequests = false
    private var lastKeyframe: MonotonicTime?
    private var askedAt: MonotonicTime?
    private var lateAnswers = 0
    private var isSettled = false

    mutating func keyframeCame(at now: MonotonicTime) {
        // Each packet of a keyframe tells of it: only the first one answers.
        defer { lastKeyframe = now }
        guard let askedAt else { return }
        self.askedAt = nil
        lateAnswers += now - askedAt < Self.latestAnswer ? 0 : 1
        ignoresRequests = lateAnswers == Self.enoughLateAnswers
        isSettled = ignoresRequests || now - askedAt < Self.latestAnswer
    }

    /// Whether to ask now, in order to find out.
    mutating func isDue(at now: MonotonicTime) -> Bool {
        guard !isSettled, askedAt == nil, let lastKeyframe, now - lastKeyframe >= Self.patience else { return false }
        askedAt = now
        return true
    }

    /// Encoders that keep to the contract's interval are never asked.
    static let patience = Duration.milliseconds(2_500)
    /// Long enough for a second request, after a second, when the first one was lost.
    static let latestAnswer = Duration.milliseconds(1_500)
    /// One might have waited for a picture that was slow in coming.
    static let enoughLateAnswers = 2
}
