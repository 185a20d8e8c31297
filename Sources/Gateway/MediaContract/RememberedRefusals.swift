public import Refusals
public import Settings
public import Wire

/// What encoders were told when a stream of theirs was ended in mid-stream, for their next attempt (docs/design.md 8).
///
/// OBS shows only what it is told while connecting. So the first attempt afterwards gets the same words, once; the one after
/// it is admitted and judged on what it sends. Only the third violation of a credential in five minutes refuses for a time.
public struct RememberedRefusals {
    /// Who was refused: another one is never turned away for it.
    public struct Attempt: Equatable, Sendable {
        /// The credential's hash.
        public var credential: String
        public var source: IPAddress
        /// flashVer, User-Agent and offer: a change means that somebody has changed a setting.
        public var product: String
        public var rules: ContractSettings

        public init(credential: String, source: IPAddress, product: String, rules: ContractSettings) {
            (self.credential, self.source, self.product, self.rules) = (credential, source, product, rules)
        }
    }

    struct Memory {
        var refused: (attempt: Attempt, refusal: Refusal, at: MonotonicTime)?
        var violations: [MonotonicTime] = []
        var barredUntil: MonotonicTime?
        var barCount = 0
    }

    static let lifetime = Duration.seconds(30)
    static let violationWindow = Duration.seconds(300)
    static let toleratedViolations = 2
    /// The third violation, the fourth, and every further one.
    static let bars = [Duration.seconds(10), .seconds(20), .seconds(30)]
    public static let maximumCredentials = 4_096

    var memories = FadingTable<String, Memory>(maximumCount: maximumCredentials, lifetime: violationWindow)

    public init() {}

    /// A publish was ended in mid-stream for breaking the contract.
    public mutating func violated(_ attempt: Attempt, _ refusal: Refusal, at now: MonotonicTime) {
        var memory = memories.value(of: attempt.credential, at: now) ?? Memory()
        memory.violations =
            memory.violations.filter { now - $0 < Self.violationWindow }.suffix(Self.toleratedViolations + 1) + [now]
        memory.refused = (attempt, refusal, now)
        if memory.violations.count > Self.toleratedViolations {
            memory.barredUntil = now + Self.bars[min(memory.barCount, Self.bars.count - 1)]
            memory.barCount += 1
        } else {
            memory.barCount = 0
        }
        memories.set(memory, for: attempt.credential, at: now)
    }

    /// An encoder wants to publish: nil admits it.
    ///
    /// A refusal is spent by being given; it is dropped unseen when the attempt differs in anything.
    public mutating func admit(_ attempt: Attempt, at now: MonotonicTime) -> Refusal? {
        guard var memory = memories.glimpse(of: attempt.credential) else { return nil }
        defer { memories.set(memory, for: attempt.credential, at: now) }
        let refused = memory.refused
        let isSame = refused.map { $0.attempt == attempt } ?? false
        if let barredUntil = memory.barredUntil, now < barredUntil, isSame, let refused {
            let seconds = Int(((barredUntil - now).inSeconds).rounded(.up))
            let words = "\(refused.refusal.sentence) This happened \(memory.violations.count) times: try again in \(seconds) s."
            return Refusal(.repeatedViolation, sentence: words)
        }
        // A bar that is over was refusal enough.
        let wasBarred = memory.barredUntil != nil
        (memory.barredUntil, memory.refused) = (nil, nil)
        guard isSame, !wasBarred, let refused, now - refused.at <= Self.lifetime else { return nil }
        return refused.refusal
    }

    /// Seconds for Retry-After while a credential is barred.
    public func retryAfter(credential: String, at now: MonotonicTime) -> Int? {
        guard let until = memories.glimpse(of: credential)?.barredUntil, until > now else { return nil }
        return Int(((until - now).inSeconds).rounded(.up))
    }

    /// Credentials remembered now.
    mutating func credentialCount(at now: MonotonicTime) -> Int { memories.count(at: now) }
}
