import Redis

/// The scripts of `Scripts/` that change and read configuration, each carried out as a whole. Their contracts stand in them.
enum StoreScript {
    /// Changes records of one slot if all of them still are what the change was based on.
    static let commit = RedisScript(PackageResources.commit_lua)
    /// A stage with its placements, revocations and replications.
    static let stage = RedisScript(PackageResources.stage_lua)
    /// Entries of the stream of commits after one that was read; false when that one is gone.
    static let follow = RedisScript(PackageResources.follow_lua)
    /// Adds an entry to the stream and wakes who listens.
    static let announce = RedisScript(PackageResources.announce_lua)
}

extension RedisScript {
    init(_ parts: [UInt8]...) { self.init(String(decoding: parts.joined(), as: UTF8.self)) }
}

/// The scripts of `Scripts/` that write history. Their contracts stand in them.
///
/// Each write has the name of a node's queue and its number there: repeated, it changes nothing and gives the same answer.
enum HistoryScript {
    /// Events of a participant in one session, at most, as `participants.lua` keeps them; beyond it the oldest are dropped.
    static let maximumEvents = 1_000

    /// A session begins, or its end is known.
    static let session = RedisScript(PackageResources.once_lua, PackageResources.session_lua)
    /// A participant as it is now.
    static let participant = ofParticipant(PackageResources.participant_lua)
    /// How a participant's recording stands.
    static let recording = ofParticipant(PackageResources.recording_lua)
    /// A line of a recording's journal.
    static let journal = RedisScript(PackageResources.once_lua, PackageResources.journal_lua)
    /// A participant's part in replications.
    static let replication = ofParticipant(PackageResources.replication_lua)
    /// An event.
    static let event = ofParticipant(PackageResources.event_lua)
    /// A publish is over, whoever held it.
    static let closed = ofParticipant(PackageResources.closed_lua)
    /// A publish was a network test.
    static let wasTest = ofParticipant(PackageResources.wastest_lua)
    /// Points of metrics.
    static let metrics = RedisScript(PackageResources.metrics_lua)
    /// Appends events to the stream of all.
    static let append = RedisScript(PackageResources.append_lua)

    private static func ofParticipant(_ script: [UInt8]) -> RedisScript {
        RedisScript(PackageResources.once_lua, PackageResources.participants_lua, script)
    }
}
