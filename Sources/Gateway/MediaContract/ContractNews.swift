public import Refusals

/// What the monitor has to tell its session.
public enum ContractNews: Equatable, Sendable {
    /// End the publish with this refusal. Nothing follows it.
    case disconnect(Refusal, faults: [ContractFault])
    /// Tell and count; at most one a minute for each rule and layer.
    case warning(ContractWarning)
}

/// A fault of a rule whose action is `warn`.
public struct ContractWarning: Equatable, Sendable {
    public var fault: ContractFault
    /// The sentence for the session's story, the console and the event. It names every layer that has this fault by now.
    public var sentence: String
    /// How often it was found since the last warning about it.
    public var count: Int
}
