import Redis

/// The scripts of `Scripts/` that change and read configuration, each carried out as a whole. Their contracts stand in them.
enum StoreScript {
    /// Changes records of one slot if all of them still are what the change was based on.
    static let commit = RedisScript(PackageResources.commit_lua)
    /// A stage with its placements and revocations.
    static let stage = RedisScript(PackageResources.stage_lua)
    /// Entries of the stream of commits after one that was read; false when that one is gone.
    static let follow = RedisScript(PackageResources.follow_lua)
    /// Adds an entry to the stream and wakes who listens.
    static let announce = RedisScript(PackageResources.announce_lua)
}

extension RedisScript {
    init(_ parts: [UInt8]...) { self.init(String(decoding: parts.joined(), as: UTF8.self)) }
}
