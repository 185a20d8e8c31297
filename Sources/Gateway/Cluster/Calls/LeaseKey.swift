/// One participant of one stage, as the keys of its slot name them.
struct LeaseKey: Hashable, Sendable {
    var stageID: String
    var participantID: String
}

/// A participant's lease: which one of all that it ever had.
struct LeaseIdentity: Hashable, Sendable {
    var key: LeaseKey
    var generation: UInt64

    init(_ key: LeaseKey, generation: UInt64) { (self.key, self.generation) = (key, generation) }
}

extension LeaseIdentity {
    /// What the server or another node says that a generation is. Nil beyond the greatest: we add to it, and keep it in 63 bits.
    static func generation(_ text: String) -> UInt64? {
        UInt64(text).flatMap { $0 <= greatestGeneration ? $0 : nil }
    }

    /// A generation is the time in milliseconds since 1970, or one more than the last: never beyond 2^53, up to which Lua's
    /// numbers are whole ones.
    static let greatestGeneration: UInt64 = 1 << 53
}

/// The running session of a stage, as the nodes share it.
struct SharedSession: Hashable, Sendable {
    var id: String
    /// Milliseconds since 1970, by the server's clock.
    var start: Int64
}

/// A publish that is over, whoever held it: its node is dead, or has lost it.
struct EndedLease: Hashable, Sendable {
    var lease: LeaseIdentity
    var sessionID: String

    init(_ lease: LeaseIdentity, sessionID: String) { (self.lease, self.sessionID) = (lease, sessionID) }
}
