import Refusals
import Settings
import Wire

/// What encoders were told when a stream of theirs was ended in mid-stream, for their next attempt (docs/design.md 8).
///
/// OBS shows only what it is told while connecting. So the first attempt afterwards gets the same words, once; the one after
/// it is admitted and judged on what it sends. Only the third violation of a credential in five minutes refuses for a time.
struct RememberedRefusals {
    /// Who was refused: another one is never turned away for it.
    struct Attempt: Equatable, Sendable {
        /// The credential's hash.
        var credential: String
        var source: IPAddress
        /// flashVer, User-Agent and offer: a change means that somebody has changed a setting.
        var product: String
        var rules: ContractSettings
    }

    private struct Memory {
        var refused: (attempt: Attempt, refusal: Refusal, at: MonotonicTime)?
        var violations: [MonotonicTime] = []
        var barredUntil: MonotonicTime?
        var barCount = 0
    }

    private static let lifetime = Duration.seconds(30)
    private static let violationWindow = Duration.seconds(300)
    private static let toleratedViolations = 2
    /// The third violation, the fourth, and every further one.
    private static let bars = [Duration.seconds(10), .seconds(20), .seconds(30)]
    static let maximumCredentials = 4_096

    private var memories = FadingTable<String, Memory>(maximumCount: maximumCredentials, lifetime: violationWindow)

    /// A publish was ended in mid-stream for breaking the contract.
    mutating func violated(_ attempt: Attempt, _ refusal: Refusal, at now: MonotonicTime) {
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
    mutating func admit(_ attempt: Attempt, at now: MonotonicTime) -> Refusal? {
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

    /// Its words have been told elsewhere, and other settings given with them: the next attempt is admitted.
    mutating func forget(_ credential: String, at now: MonotonicTime) {
        guard var memory = memories.glimpse(of: credential) else { return }
        (memory.refused, memory.barredUntil) = (nil, nil)
        memories.set(memory, for: credential, at: now)
    }

    /// Seconds for Retry-After while a credential is barred.
    func retryAfter(credential: String, at now: MonotonicTime) -> Int? {
        guard let until = memories.glimpse(of: credential)?.barredUntil, until > now else { return nil }
        return Int(((until - now).inSeconds).rounded(.up))
    }

    /// Credentials remembered now.
    mutating func credentialCount(at now: MonotonicTime) -> Int { memories.count(at: now) }
}

extension RememberedRefusals {
    /// What is remembered of one credential; nil when nothing is left to say.
    func handed(_ credential: String) -> HandedRefusal? {
        guard let memory = memories.glimpse(of: credential), let refused = memory.refused else { return nil }
        return HandedRefusal(
            credential: credential, source: "\(refused.attempt.source)", product: refused.attempt.product,
            rules: refused.attempt.rules, number: refused.refusal.code.number, sentence: refused.refusal.sentence,
            refusedAt: refused.at.nanoseconds, violations: memory.violations.map(\.nanoseconds),
            barredUntil: memory.barredUntil?.nanoseconds, barCount: memory.barCount)
    }

    var handed: [HandedRefusal] { memories.keys.compactMap { handed($0) } }

    /// Goes on with what another process remembered; what happened here since then is newer. A count of bars that cannot be is
    /// made one that can.
    mutating func adopt(_ handed: HandedRefusal, at now: MonotonicTime) {
        guard let source = IPAddress(handed.source), let code = RefusalCode(rawValue: handed.number),
            (memories.glimpse(of: handed.credential)?.refused?.at ?? .zero) < MonotonicTime(nanoseconds: handed.refusedAt)
        else { return }
        let attempt = Attempt(credential: handed.credential, source: source, product: handed.product, rules: handed.rules)
        let memory = Memory(
            refused: (attempt, Refusal(code, sentence: handed.sentence), MonotonicTime(nanoseconds: handed.refusedAt)),
            violations: handed.violations.suffix(Self.toleratedViolations + 2).map(MonotonicTime.init(nanoseconds:)),
            barredUntil: handed.barredUntil.map(MonotonicTime.init(nanoseconds:)),
            barCount: min(max(0, handed.barCount), Self.bars.count))
        memories.set(memory, for: handed.credential, at: now)
    }
}
