/// What one node says to another. All of it is in a record too: a lost message costs one renewal at most (docs/design.md 7.4).
package enum NodeMessage: Hashable, Sendable {
    /// Do you hold this lease, and does it make progress?
    case ask(Question)
    case answer(question: Int, Holding)
    /// The lease has to end; its record says so.
    case end(LeaseIdentity, LeaseEnding)
    /// The lease of a lower generation than this one is lost.
    case takenOver(LeaseIdentity)

    package struct Question: Hashable, Sendable {
        package var number: Int
        /// Whom to answer.
        package var node: String
        package var lease: LeaseIdentity
    }

    package enum Holding: Hashable, Sendable {
        /// - Parameter age: how long ago it last made progress.
        case live(age: Duration)
        case gone
    }
}
