import Wire

/// What one track's router may ask of us. Plain RTP can be forged: nothing that it asks may amplify traffic or starve the track
/// (docs/design.md 6.3).
struct FeedbackBounds {
    private var keyframeSpacing = Allowance(1, then: keyframeInterval)
    private var keyframeRequests = Allowance(keyframeRequestsAtFirst, then: .seconds(6))
    private var lastPaused: MonotonicTime?
    private var limit: (bitsPerSecond: Int, until: MonotonicTime)?
    /// Bytes. No `Allowance`: what is sent earns them, not time.
    private var retransmissionCredit = retransmissionAllowance

    /// Whether a PLI or FIR may be passed on now.
    mutating func admitsKeyframeRequest(at now: MonotonicTime) -> Bool {
        keyframeSpacing.take(at: now) && keyframeRequests.take(at: now)
    }

    /// Keeps the router's REMB, never below the minimum.
    mutating func limitBitrate(_ bitsPerSecond: UInt64, at now: MonotonicTime) {
        let bits = Int(min(bitsPerSecond, UInt64(Int32.max)))
        limit = (max(Self.minimumBitrate, bits), now + Self.bitrateLifetime)
    }

    /// The router's limit in bits a second, forgotten after 5 s.
    func bitrateLimit(at now: MonotonicTime) -> Int? { limit.flatMap { now < $0.until ? $0.bitsPerSecond : nil } }

    /// Media bytes that went out earn retransmissions.
    mutating func sent(byteCount: Int) {
        retransmissionCredit = min(
            retransmissionCredit + byteCount / Self.retransmissionShare, Self.maximumRetransmissionCredit)
    }

    /// Whether a PAUSE may be answered; what that costs counts as what is sent again.
    /// - Parameter isNew: it did not hold before.
    mutating func admitsPaused(isNew: Bool, at now: MonotonicTime) -> Bool {
        if !isNew, let last = lastPaused, now - last < Self.pausedInterval { return false }
        guard admitsRetransmission(byteCount: Self.pausedByteCount) else { return false }
        lastPaused = now
        return true
    }

    /// Whether anything may be sent again: without, nothing need be looked for.
    var hasRetransmissionCredit: Bool { retransmissionCredit > 0 }

    /// Whether `byteCount` may be sent again.
    mutating func admitsRetransmission(byteCount: Int) -> Bool {
        guard retransmissionCredit >= byteCount else { return false }
        retransmissionCredit -= byteCount
        return true
    }

    static let keyframeInterval = Duration.milliseconds(500)
    /// As many at the start of a track, and then ten a minute.
    static let keyframeRequestsAtFirst = 13
    static let minimumBitrate = 300_000
    static let bitrateLifetime = Duration.seconds(5)
    /// Retransmitted bytes of sent bytes: a fifth.
    static let retransmissionShare = 5
    /// What may be retransmitted before anything was earned: some packets of a quiet track.
    static let retransmissionAllowance = 12_000
    /// What two seconds at 8.5 Mbit/s earn.
    static let maximumRetransmissionCredit = 425_000
    /// A PAUSE that holds already is answered so often.
    static let pausedInterval = Duration.milliseconds(100)
    /// About what a report with PAUSED takes.
    static let pausedByteCount = 100
}
