import Redis
import Store

/// The cluster's database as its callers want it: each question waits for its answer on the calling thread.
protocol DatabaseServer: AnyObject {
    /// Asks several things at once; each may go to another slot. The answers come in the order of the questions.
    /// - Throws: `.away` when one of them has no answer, whatever became of it; `.failed` when one was refused.
    func ask(_ questions: [Question]) throws(StoreError) -> [RedisValue]

    /// Waits until a replica has what was written in the slot of `key`, where there is one, as long as that is short.
    /// - Returns: false when the replica took longer.
    func settle(_ key: String) throws(StoreError) -> Bool
}

/// A command, or a script with its keys, which live in one slot.
enum Question {
    case command(RedisCommand, key: String)
    case script(RedisScript, keys: [String], arguments: [RedisArgument])

    var key: String {
        switch self {
        case .command(_, let key): key
        case .script(_, let keys, _): keys.first ?? ""
        }
    }
}

extension DatabaseServer {
    func ask(_ command: RedisCommand, key: String) throws(StoreError) -> RedisValue {
        try ask([.command(command, key: key)])[0]
    }

    func run(_ script: RedisScript, _ keys: [String], _ arguments: [RedisArgument] = []) throws(StoreError) -> RedisValue {
        try ask([.script(script, keys: keys, arguments: arguments)])[0]
    }

    /// Adds to or takes from the lists of records.
    func list(_ listings: [KeySchema.Listing], _ name: RedisArgument, schema: KeySchema) throws(StoreError) {
        _ = try ask(
            listings.map { listing in
                let key = schema.index(listing.index)
                return .command(RedisCommand(name, RedisArgument(key), RedisArgument(listing.member)), key: key)
            })
    }

    /// Adds an entry to the stream of commits, and wakes the other nodes.
    /// - Returns: the stream's number of it; nil where the script answered something else.
    func announce(_ entry: ChangeEntry, schema: KeySchema) throws(StoreError) -> String? {
        try run(
            StoreScript.announce, [schema.changes],
            [RedisArgument(Committer.maximumChanges), RedisArgument(schema.changesChannel)] + entry.fields
        ).text
    }
}
