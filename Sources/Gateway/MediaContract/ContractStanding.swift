import EventLoop
public import Settings
import Synchronization

/// How a publish stands with the media contract, as other threads see it: about a second old, and final when it has ended.
public final class ContractStanding: Sendable {
    private let sightings = Lock<ContractSightings?>(nil)

    func note(_ sightings: ContractSightings) { self.sightings.withLock { $0 = sightings } }

    /// Each rule that this publish is judged by; none before its first media.
    public var rules: [RuleStanding] { sightings.withLock { $0 }?.table ?? [] }

    /// What the encoder told of its frames.
    public var encoder: EncoderFigures { sightings.withLock { $0?.encoder } ?? EncoderFigures() }
}

/// One row of the table of rules.
public struct RuleStanding: Equatable, Sendable {
    public var rule: ContractRule
    /// What follows where it is broken.
    public var action: ContractAction
    public var limit: String
    /// Nil where nothing has been seen that the rule is about.
    public var seen: String?
    /// Nil where nothing has been seen, and of a rule that is off.
    public var isKept: Bool?
    /// The setting that changes it, in the words of the encoder at hand.
    public var setting: String
}
