import GRDB

/// Events that receivers of webhooks have not taken yet, by their numbers.
struct Outbox {
    private let database: Database

    init(_ database: Database) { self.database = database }

    /// Makes sure that every event is kept for these receivers until they took it, and forgets other receivers' entries.
    func setTargets(_ targets: [String]) throws {
        try database.execute(sql: "DELETE FROM target")
        for target in targets { try database.execute(sql: "INSERT OR IGNORE INTO target (name) VALUES (?)", arguments: [target]) }
        try database.execute(sql: "DELETE FROM outbox WHERE target NOT IN (SELECT name FROM target)")
    }

    /// An event for all receivers.
    func add(_ sequence: Int64) throws {
        try database.execute(sql: "INSERT INTO outbox (target, sequence) SELECT name, ? FROM target", arguments: [sequence])
    }

    /// The receiver has taken these events.
    func remove(_ sequences: [Int64], of target: String) throws {
        for sequence in sequences {
            try database.execute(sql: "DELETE FROM outbox WHERE target = ? AND sequence = ?", arguments: [target, sequence])
        }
    }

    /// Drops what is beyond a receiver's bound, the oldest first.
    func bound() throws {
        for target in try String.fetchAll(database, sql: "SELECT name FROM target") {
            try database.execute(
                sql: """
                    DELETE FROM outbox WHERE target = ?1 AND sequence <=
                        (SELECT sequence FROM outbox WHERE target = ?1 ORDER BY sequence DESC LIMIT 1 OFFSET ?2)
                    """, arguments: [target, HistoryDatabase.maximumOutbox])
        }
    }
}
