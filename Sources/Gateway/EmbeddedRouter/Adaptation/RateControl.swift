import Wire

/// How much the way to a viewer carries by its delay: up while it is calm, down when it fills (draft-ietf-rmcat-gcc-02 §5.5).
struct RateControl {
    private(set) var bitsPerSecond: Double
    /// Where the way filled last, and how sure that is; nil before, and once the way has clearly become wider.
    private var capacity: Double?
    private var updated: MonotonicTime?
    private var lastDecrease: MonotonicTime?
    /// What a try has shown last.
    private var proof: (bitsPerSecond: Double, time: MonotonicTime)?

    init(bitsPerSecond: Int) { self.bitsPerSecond = Double(bitsPerSecond) }

    /// - Parameter delivered: bits a second that came in the last half second; nil while it is not known.
    mutating func update(_ usage: DelayTrend.Usage, delivered: Double?, at now: MonotonicTime) {
        let elapsed = min(1, updated.map { (now - $0).inSeconds } ?? 0)
        updated = now
        switch usage {
        case .over: decrease(delivered, at: now)
        case .normal: increase(delivered, over: elapsed)
        case .under: break  // a queue empties: wait for that
        }
    }

    /// A probe came through at this rate.
    mutating func proven(_ rate: Double, at now: MonotonicTime) {
        proof = (rate, now)
        guard rate > bitsPerSecond else { return }
        bitsPerSecond = rate
        if let capacity, rate > capacity * 1.2 { self.capacity = nil }
    }

    /// No more than that came, and much did not.
    mutating func lower(to delivered: Double) { bitsPerSecond = max(Self.minimum, min(bitsPerSecond, delivered)) }

    private mutating func decrease(_ delivered: Double?, at now: MonotonicTime) {
        // One step for what is one queue: the next when this one's effect can be seen.
        if let lastDecrease, now - lastDecrease < Self.decreaseInterval { return }
        guard var delivered else { return }
        // A try fills the way for a moment itself, and tells better what it carries than what we happened to send.
        if let proof, now - proof.time < Self.proofLifetime { delivered = max(delivered, proof.bitsPerSecond) }
        let target = Self.backOff * delivered
        if target < bitsPerSecond {
            bitsPerSecond = max(target, Self.minimum)
            capacity = delivered
        }
        lastDecrease = now
    }

    /// Far from where the way filled last by 8 % a second, near to it by little; never far beyond what is really sent, since
    /// nothing is known of what was not tried.
    private mutating func increase(_ delivered: Double?, over elapsed: Double) {
        guard let delivered else { return }
        let isNear = capacity.map { bitsPerSecond > 0.9 * $0 && bitsPerSecond < 1.2 * $0 } ?? false
        let risen = isNear ? bitsPerSecond + Self.nearStep * elapsed : bitsPerSecond * (1 + 0.08 * elapsed)
        let limit = 1.5 * delivered + 10_000
        if bitsPerSecond < limit { bitsPerSecond = min(risen, limit) }
        // What has come without a delay is carried, whatever was believed: publishers' layers do not begin small for us.
        bitsPerSecond = max(bitsPerSecond, delivered)
    }

    private static let backOff = 0.85
    /// Two packets a second and 100 ms of round trip: additive increase.
    private static let nearStep = 40_000.0
    /// Until a layer that is taken for it has begun at its keyframe.
    private static let proofLifetime: Duration = .seconds(3)
    private static let decreaseInterval: Duration = .milliseconds(300)
    /// Bits a second: what audio alone needs.
    static let minimum = 30_000.0
}

/// How much the way to a viewer carries by what it loses (draft-ietf-rmcat-gcc-02 §6): above a tenth down, below a fiftieth up.
struct LossControl {
    private(set) var bitsPerSecond: Double
    private var fraction = 0.0
    /// Whether loss has ever been heavy.
    private(set) var hasTakenAway = false
    private var expected = 0
    private var lost = 0
    private var updated: MonotonicTime?

    init(bitsPerSecond: Int) { self.bitsPerSecond = Double(bitsPerSecond) }

    /// Packets that were told of, and how many of them did not come. Judged once there are enough, or few in a second.
    mutating func note(expected: Int, lost: Int, at now: MonotonicTime) {
        self.expected += expected
        self.lost += lost
        let elapsed = now - (updated ?? now)
        if updated == nil { updated = now }
        let isEnough = self.expected >= Self.fewest && elapsed >= Self.interval
        guard isEnough || self.expected >= Self.fewestAfterSilence && elapsed >= Self.silence else { return }
        judge(Double(self.lost) / Double(self.expected), over: elapsed, at: now)
        (self.expected, self.lost) = (0, 0)
    }

    /// The viewer's own figure, by a receiver report.
    /// - Parameter sending: bits a second. Where that is lost, more is no question; where it is not, the next layer may be tried.
    mutating func note(fraction: Double, sending: Int, at now: MonotonicTime) {
        let elapsed = now - (updated ?? now)
        let isHeavy = fraction > Self.heavy
        bitsPerSecond = min(bitsPerSecond, (isHeavy ? 1.2 : Self.nextLayer) * Double(sending))
        if !isHeavy { bitsPerSecond = max(bitsPerSecond, Double(sending)) }
        judge(fraction, over: elapsed, at: now)
    }

    /// What another sign says the way carries: losses are counted from there.
    mutating func reach(_ bitsPerSecond: Double) { self.bitsPerSecond = max(self.bitsPerSecond, bitsPerSecond) }

    private mutating func judge(_ fraction: Double, over elapsed: Duration, at now: MonotonicTime) {
        (self.fraction, updated) = (fraction, now)
        if isHeavy {
            hasTakenAway = true
            bitsPerSecond = max(RateControl.minimum, bitsPerSecond * (1 - 0.5 * fraction))
        } else if isLight {
            bitsPerSecond *= 1 + 0.08 * min(1, elapsed.inSeconds)
        }
        bitsPerSecond = min(bitsPerSecond, Self.maximum)
    }

    var isHeavy: Bool { fraction > Self.heavy }
    var isLight: Bool { fraction < 0.02 }

    private static let heavy = 0.1
    /// What the next layer needs at most, of what the present one does: browsers' highest has five times the middle one's bits.
    private static let nextLayer = 7.0
    private static let interval: Duration = .milliseconds(300)
    private static let fewest = 20
    /// A viewer to whom hardly anything is sent is told of by tries alone: what it lost long ago is not held against them.
    private static let silence: Duration = .seconds(1)
    private static let fewestAfterSilence = 3
    /// Beyond what the media contract lets in.
    static let maximum = 20_000_000.0
}
