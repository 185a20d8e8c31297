import EventLoop
public import Refusals
public import Settings
import Synchronization
public import Wire

/// The contract as all workers share it: the rules in force, and what encoders have still to be told. For any thread.
public final class ContractContext: Sendable {
    private struct State {
        var rules: ContractSettings
        var memory = RememberedRefusals()
        var warnings = RememberedWarnings()
        /// Who is told of violations, once another process admits.
        var relay: (@Sendable (HandedRefusal) -> Void)?
    }

    private let state: Lock<State>
    private let generation = Atomic<Int>(0)

    public init(rules: ContractSettings = ContractSettings()) { state = Lock(State(rules: rules)) }

    /// Puts new rules into force; live publishes take them up within a second.
    public func apply(_ rules: ContractSettings) {
        state.withLock { $0.rules = rules }
        generation.add(1, ordering: .releasing)
    }

    /// Rises with every `apply`.
    public var rulesGeneration: Int { generation.load(ordering: .acquiring) }

    /// The rules for one stage.
    public func rules(forStageTags tags: [String: String]) -> ContractSettings {
        state.withLock { $0.rules }.overridden(byStageTags: tags).rules
    }

    /// A refusal that this encoder has still to hear; nil admits it.
    public func rememberedRefusal(for publisher: ContractPublisher, at now: MonotonicTime) -> Refusal? {
        let attempt = attempt(of: publisher)
        return state.withLock { $0.memory.admit(attempt, at: now) }
    }

    /// The encoder has been told in another way, and what to change with it: its next publish is judged on what it sends.
    public func forgetRefusal(credential: String, at now: MonotonicTime) {
        tell(credential) { $0.forget(credential, at: now) }
    }

    /// Seconds for Retry-After while a credential is barred for repeated violations.
    public func retryAfter(credential: String, at now: MonotonicTime) -> Int? {
        state.withLock { $0.memory.retryAfter(credential: credential, at: now) }
    }

    /// What this encoder's last publish was warned of, once; nil too when anything about it has changed since.
    public func rememberedWarning(for publisher: ContractPublisher, at now: MonotonicTime) -> String? {
        let attempt = attempt(of: publisher)
        return state.withLock { $0.warnings.take(attempt, at: now) }
    }

    func warned(_ publisher: ContractPublisher, of warning: ContractWarning, at now: MonotonicTime) {
        // Others warn by an operator's choice, or of a browser's first small pictures.
        guard warning.fault.rule.defaultAction == .warn else { return }
        let attempt = attempt(of: publisher)
        state.withLock { $0.warnings.warned(attempt, warning.sentence, at: now) }
    }

    func violated(_ publisher: ContractPublisher, _ refusal: Refusal, at now: MonotonicTime) {
        let attempt = attempt(of: publisher)
        tell(publisher.credential) { $0.violated(attempt, refusal, at: now) }
    }

    /// Changes what is remembered of a credential, and tells the process that admits, if that is another one.
    private func tell(_ credential: String, after change: (inout RememberedRefusals) -> Void) {
        state.withLock { state in
            change(&state.memory)
            if let relay = state.relay, let handed = state.memory.handed(credential) { relay(handed) }
        }
    }

    private func attempt(of publisher: ContractPublisher) -> RememberedRefusals.Attempt {
        RememberedRefusals.Attempt(
            credential: publisher.credential, source: publisher.source, product: publisher.product,
            rules: rules(forStageTags: publisher.stageTags))
    }
}

/// Giving what is remembered to a new process of this gateway, and taking it from an old one (docs/design.md 4.6).
extension ContractContext {
    /// From now on another process admits: all that encoders have still to be told goes there, and what is added to it.
    /// - Parameter relay: called on any thread, in order; it must not wait.
    public func handOver(to relay: @escaping @Sendable (HandedRefusal) -> Void) {
        state.withLock { state in
            state.relay = relay
            for handed in state.memory.handed { relay(handed) }
        }
    }

    /// The other process has died: this one admits again.
    public func takeBack() { state.withLock { $0.relay = nil } }

    /// Goes on with what another process remembered.
    public func adopt(_ handed: HandedRefusal, at now: MonotonicTime) {
        tell(handed.credential) { $0.adopt(handed, at: now) }
    }
}

/// Who publishes, as far as the contract asks.
public struct ContractPublisher: Sendable {
    /// The credential's hash.
    public var credential: String
    public var source: IPAddress
    /// flashVer or User-Agent; WHIP adds a hash of the offer.
    public var product: String
    public var stageTags: [String: String]

    public init(credential: String, source: IPAddress, product: String, stageTags: [String: String] = [:]) {
        (self.credential, self.source, self.product, self.stageTags) = (credential, source, product, stageTags)
    }
}
