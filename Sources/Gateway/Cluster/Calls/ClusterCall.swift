/// What a node asks of the server. Everything about one stage is one script in the stage's slot (Scripts/).
package enum ClusterCall: Hashable, Sendable {
    /// - Parameter number: the claim's, by which the answer finds it.
    case claim(number: Int, ClaimArguments)
    case renew(stage: String, [RenewedLease])
    case release(LeaseIdentity)
    /// - Parameter participant: nil for all of the stage.
    case end(stage: String, participant: String?, LeaseEnding)
    case sweep(stage: String, node: String)
    case idle(stage: String)
    /// - Parameter number: of who asked.
    case look(stage: String, number: Int)
    /// - Parameter number: of who asked.
    case begin(stage: String, sessionID: String, number: Int)
    case announce(stage: String, sessionID: String)
    /// Adds stages to those of this node, before anything is claimed there.
    case mark(stages: [String])
    case unmark(stage: String)
    case stages(ofNode: String)
    case forgetStages(ofNode: String)
    /// - Parameter record: nil when it is unchanged.
    case heartbeat(record: String?, buries: Bool)
    case bury(node: String)
    /// Who counts as alive, and their records.
    case nodes

    package struct ClaimArguments: Hashable, Sendable {
        package var key: LeaseKey
        /// What counts as one publisher: an ingest configuration, or a participant.
        package var set: String
        package var credential: String
        /// The generation that may be taken over; 0: none.
        package var takesOver: UInt64
        /// In case a session begins.
        package var sessionID: String
        package var lowestGeneration: UInt64
        package var grace: Grace
        package var isOwnerSilent: Bool
    }

    package struct RenewedLease: Hashable, Sendable {
        package var participantID: String
        package var generation: UInt64
        package var set: String
        package var credential: String
        package var session: SharedSession
    }
}

/// How much of what others held is to be respected after the server was silent.
package enum Grace: String, Sendable {
    case none = ""
    /// An expired lease may be live: its node could not renew it.
    case expired
    /// An absent lease may be live too: the server has forgotten.
    case unknown
}
