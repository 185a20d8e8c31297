import Foundation
import GRDB

/// What the cluster has not taken yet, in the order of its writing: a node of a cluster loses none of it over a restart.
struct ForwardingQueue {
    private let database: Database

    init(_ database: Database) { self.database = database }

    func add(_ write: HistoryWrite) throws {
        switch write {
        case .delivered, .forwarded: return
        case .sessionBegan, .sessionEnded, .participant, .event, .recording, .replication, .metrics, .journal, .closed, .wasTest:
            break
        }
        let entry = String(decoding: try JSONEncoder().encode(write), as: UTF8.self)
        try database.cachedStatement(sql: "INSERT INTO platformQueue (entry) VALUES (?)").execute(arguments: [entry])
        let last = database.lastInsertedRowID
        guard last % 1_000 == 0 else { return }
        try database.execute(
            sql: "DELETE FROM platformQueue WHERE sequence <= ?", arguments: [last - Int64(HistoryDatabase.maximumQueued)])
    }

    /// The cluster has taken the queue up to here.
    func remove(through sequence: Int64) throws {
        try database.execute(sql: "DELETE FROM platformQueue WHERE sequence <= ?", arguments: [sequence])
    }

    /// The first writes, at most so many.
    func beginning(limit: Int) throws -> HistoryQueue {
        let name = try String.fetchOne(database, sql: "SELECT name FROM platformQueueName") ?? ""
        let rows = try Row.fetchCursor(database, sql: "SELECT sequence, entry FROM platformQueue ORDER BY sequence")
        var writes: [QueuedWrite] = []
        while writes.count < limit, let row = try rows.next() {
            // What another version of this program wrote and this one cannot read goes with the next
            // that it can, however much it is.
            guard let write = try? JSONDecoder().decode(HistoryWrite.self, from: Data(row.text("entry").utf8)) else { continue }
            writes.append(QueuedWrite(sequence: row["sequence"], write: write))
        }
        return HistoryQueue(name: name, writes: writes)
    }
}

/// A write that waits for the cluster.
package struct QueuedWrite: Sendable {
    /// Rises with every write of the queue.
    package var sequence: Int64
    package var write: HistoryWrite
}

/// The beginning of a node's queue.
package struct HistoryQueue: Sendable {
    /// Tells this data directory's numbers from those of all others.
    package var name: String
    package var writes: [QueuedWrite]
}

extension EmbeddedHistory {
    func historyQueue(limit: Int) throws -> HistoryQueue { try ForwardingQueue(database).beginning(limit: limit) }
}
