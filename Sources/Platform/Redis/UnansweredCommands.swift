import Wire

/// Commands sent and not answered, oldest first: answers come in the order of the commands.
struct UnansweredCommands {
    private struct Entry {
        let sentAt: MonotonicTime
        let reply: (RedisReply) -> Void
    }

    private var entries: [Entry?] = []
    private var head = 0

    var count: Int { entries.count - head }
    var isEmpty: Bool { count == 0 }
    /// When the oldest was sent.
    var oldest: MonotonicTime? { isEmpty ? nil : entries[head]?.sentAt }

    mutating func append(sentAt: MonotonicTime, _ reply: @escaping (RedisReply) -> Void) {
        // Moves what is left to the front only when that is less than what has gone.
        if head > entries.count / 2 {
            entries.removeSubrange(..<head)
            head = 0
        }
        entries.append(Entry(sentAt: sentAt, reply: reply))
    }

    mutating func popFirst() -> ((RedisReply) -> Void)? {
        guard head < entries.count else { return nil }
        let reply = entries[head]?.reply
        entries[head] = nil
        head += 1
        if head == entries.count { (entries, head) = ([], 0) }
        return reply
    }
}
