/// One participant of one stage, as the keys of its slot name them.
package struct LeaseKey: Hashable, Sendable {
    package var stageID: String
    package var participantID: String

    package init(stageID: String, participantID: String) { (self.stageID, self.participantID) = (stageID, participantID) }
}

/// A participant's lease: which one of all that it ever had.
package struct LeaseIdentity: Hashable, Sendable {
    package var key: LeaseKey
    package var generation: UInt64

    package init(_ key: LeaseKey, generation: UInt64) { (self.key, self.generation) = (key, generation) }
}

extension LeaseIdentity {
    /// A generation is the time in milliseconds since 1970, or one more than the last: never beyond 2^53, up to which Lua's numbers
    /// are whole ones.
    static let greatestGeneration: UInt64 = 1 << 53

    /// What the server or another node says that a generation is. Nil beyond the greatest: we add to it, and keep it in 63 bits.
    static func generation(_ text: String) -> UInt64? {
        UInt64(text).flatMap { $0 <= greatestGeneration ? $0 : nil }
    }
}

/// The running session of a stage, as the nodes share it.
package struct SharedSession: Hashable, Sendable {
    package var id: String
    /// Milliseconds since 1970, by the server's clock.
    package var start: Int64

    package init(id: String, start: Int64) { (self.id, self.start) = (id, start) }
}

/// A publish that is over, whoever held it: its node is dead, or has lost it.
package struct EndedLease: Hashable, Sendable {
    package var lease: LeaseIdentity
    package var sessionID: String

    package init(_ lease: LeaseIdentity, sessionID: String) { (self.lease, self.sessionID) = (lease, sessionID) }
}
