import Wire

/// When to ask a WHIP encoder for a keyframe (docs/design.md 5.6): never while nobody wants one.
struct KeyframeRequests {
    private var isWanted = false
    private var lastSent: MonotonicTime?
    private var unanswered = 0
    /// Three requests went unanswered: OBS and ffmpeg have no handler for them. Or the way has lost them.
    private(set) var isDeaf = false
    private var probe = KeyframeProbe()
    private var isPaused = false
    /// When asked for a keyframe in order to find out, it sent one no sooner than it would have anyway, or none.
    var ignoresRequests: Bool { probe.ignoresRequests }

    /// The start gate, unrecovered loss or the router wants one.
    mutating func want() { isWanted = true }

    /// A keyframe came.
    /// - Parameter isAnswer: whether those who want one can begin with it.
    mutating func keyframeCame(at now: MonotonicTime, isAnswer: Bool = true) {
        if isAnswer { isWanted = false }
        (unanswered, isDeaf) = (0, false)
        probe.keyframeCame(at: now)
    }

    /// Video is muted: nobody is there to answer.
    mutating func pause() {
        isPaused = true
        probe.pause()
    }

    /// Video goes on: with a keyframe, or else one is wanted for those who came in between.
    mutating func resume(wantsKeyframe: Bool) {
        (isPaused, unanswered) = (false, 0)
        if wantsKeyframe { isWanted = true }
    }

    /// Whether to send a PLI now: at most one in 500 ms, then after 1, 2 and every 4 s while unanswered.
    mutating func isDue(at now: MonotonicTime) -> Bool {
        guard !isPaused else { return false }
        if probe.isDue(at: now) { isWanted = true }
        guard isWanted else { return false }
        if let lastSent {
            let pause: Duration = unanswered == 0 ? .milliseconds(500) : .seconds(1 << (unanswered - 1))
            guard now - lastSent >= pause else { return false }
        }
        isDeaf = unanswered == Self.maximumUnanswered
        (lastSent, unanswered) = (now, min(unanswered + 1, Self.maximumUnanswered))
        return true
    }

    private static let maximumUnanswered = 3
}

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
        let isLate = now - askedAt >= Self.latestAnswer
        if isLate { lateAnswers += 1 }
        ignoresRequests = lateAnswers == Self.enoughLateAnswers
        isSettled = ignoresRequests || !isLate
    }

    /// What was asked stays unanswered for another reason.
    mutating func pause() { askedAt = nil }

    /// Whether to ask now, in order to find out.
    mutating func isDue(at now: MonotonicTime) -> Bool {
        if let askedAt, now - askedAt >= Self.longestSilence {
            (self.askedAt, ignoresRequests, isSettled) = (nil, true, true)
        }
        guard !isSettled, askedAt == nil, let lastKeyframe, now - lastKeyframe >= Self.patience else { return false }
        askedAt = now
        return true
    }

    /// Encoders that keep to the contract's interval are never asked.
    static let patience = Duration.milliseconds(2_500)
    /// Long enough for a second request, after a second, when the first one was lost.
    static let latestAnswer = Duration.milliseconds(1_500)
    /// Its own next keyframe is not waited for any longer: there may be none. A way loses requests for some seconds.
    static let longestSilence = Duration.seconds(15)
    /// One might have waited for a picture that was slow in coming.
    static let enoughLateAnswers = 2
}
