import Refusals
import Settings
import Wire

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

    /// Goes on with what another process remembered; what happened here since then is newer.
    mutating func adopt(_ handed: HandedRefusal, at now: MonotonicTime) {
        guard let source = IPAddress(handed.source), let code = RefusalCode(rawValue: handed.number),
            (memories.glimpse(of: handed.credential)?.refused?.at ?? .zero) < MonotonicTime(nanoseconds: handed.refusedAt)
        else { return }
        let attempt = Attempt(credential: handed.credential, source: source, product: handed.product, rules: handed.rules)
        let memory = Memory(
            refused: (attempt, Refusal(code, sentence: handed.sentence), MonotonicTime(nanoseconds: handed.refusedAt)),
            violations: handed.violations.suffix(Self.toleratedViolations + 2).map(MonotonicTime.init(nanoseconds:)),
            barredUntil: handed.barredUntil.map(MonotonicTime.init(nanoseconds:)), barCount: handed.barCount)
        memories.set(memory, for: handed.credential, at: now)
    }
}
