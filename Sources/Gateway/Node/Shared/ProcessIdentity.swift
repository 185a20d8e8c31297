import Wire

/// This process among those that follow each other as one node.
struct ProcessIdentity: Sendable {
    /// Of its sessions; a process that takes our place has the next one.
    let generation: UInt8
    /// Binds the ids of WHIP sessions to their tokens, in each of them.
    let sessionKey: Secret
    /// The same in each of them: a worker goes on with the sockets of one before.
    let workerCount: Int
}
