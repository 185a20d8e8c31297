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
    public static let maximumCredentials = 4_096

    private var memories = FadingTable<String, Memory>(maximumCount: maximumCredentials, lifetime: violationWindow)

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

    /// Its words have been told elsewhere, and other settings given with them: the next attempt is admitted.
    mutating func forget(_ credential: String, at now: MonotonicTime) {
        guard var memory = memories.glimpse(of: credential) else { return }
        (memory.refused, memory.barredUntil) = (nil, nil)
        memories.set(memory, for: credential, at: now)
    }

    /// Seconds for Retry-After while a credential is barred.
    public func retryAfter(credential: String, at now: MonotonicTime) -> Int? {
        guard let until = memories.glimpse(of: credential)?.barredUntil, until > now else { return nil }
        return Int(((until - now).inSeconds).rounded(.up))
    }

    /// Credentials remembered now.
    mutating func credentialCount(at now: MonotonicTime) -> Int { memories.count(at: now) }
}

/// What encoders were warned of while they published, for their next attempt: it is admitted, and told in passing.
struct RememberedWarnings {
    private struct Warning {
        var attempt: RememberedRefusals.Attempt
        var sentence: String
        var time: MonotonicTime
    }

    /// The last one of each credential.
    private var warnings = FadingTable<String, Warning>(
        maximumCount: RememberedRefusals.maximumCredentials, lifetime: lifetime)

    mutating func warned(_ attempt: RememberedRefusals.Attempt, _ sentence: String, at now: MonotonicTime) {
        warnings.set(Warning(attempt: attempt, sentence: sentence, time: now), for: attempt.credential, at: now)
    }

    /// The warning of an encoder that begins anew with the same settings; it is spent by being told.
    mutating func take(_ attempt: RememberedRefusals.Attempt, at now: MonotonicTime) -> String? {
        guard let warning = warnings.glimpse(of: attempt.credential) else { return nil }
        warnings.set(nil, for: attempt.credential, at: now)
        return warning.attempt == attempt && now - warning.time <= Self.lifetime ? warning.sentence : nil
    }

    /// Live publishes are warned again every minute: an hour after the last time it is an old story.
    private static let lifetime = Duration.seconds(3_600)
}

/// What one process of a gateway has still to tell an encoder, on its way to the process that will be asked (docs/design.md 4.6).
/// Times are those of the machine's monotonic clock, which both processes read, in nanoseconds.
public struct HandedRefusal: Codable, Sendable, Equatable {
    /// The credential's hash.
    var credential: String
    var source: String
    var product: String
    var rules: ContractSettings
    /// Of the refusal in the table.
    var number: Int
    var sentence: String
    var refusedAt: Int64
    var violations: [Int64]
    var barredUntil: Int64?
    var barCount: Int
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

    /// Goes on with what another process remembered; what happened here since then is newer. A count of bars that cannot be is made one that can.
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
