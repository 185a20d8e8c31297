import Foundation
import GRDB

/// What the platform has not taken yet, in the order of its writing: a node of a cluster loses none of it over a restart.
extension HistoryDatabase {
    /// Entries of the queue, at most; beyond it the oldest are dropped.
    static let maximumQueued = 200_000

    static func enqueue(_ write: HistoryWrite, _ database: Database) throws {
        switch write {
        case .delivered, .forwarded: return
        case .sessionBegan, .sessionEnded, .participant, .event, .closed: break
        }
        let entry = String(decoding: try JSONEncoder().encode(write), as: UTF8.self)
        try database.cachedStatement(sql: "INSERT INTO platformQueue (entry) VALUES (?)").execute(arguments: [entry])
        let last = database.lastInsertedRowID
        guard last % 1_000 == 0 else { return }
        try database.execute(
            sql: "DELETE FROM platformQueue WHERE sequence <= ?", arguments: [last - Int64(maximumQueued)])
    }
}

/// A write that waits for the platform.
package struct QueuedWrite: Sendable {
    /// Rises with every write of the queue.
    package var sequence: Int64
    package var write: HistoryWrite
}

/// The beginning of a node's queue.
package struct PlatformQueue: Sendable {
    /// Tells this data directory's numbers from those of all others.
    package var name: String
    package var writes: [QueuedWrite]
}

extension EmbeddedHistory {
    func platformQueue(limit: Int) throws -> PlatformQueue {
        let name = try String.fetchOne(database, sql: "SELECT name FROM platformQueueName") ?? ""
        let rows = try Row.fetchAll(
            database, sql: "SELECT sequence, entry FROM platformQueue ORDER BY sequence LIMIT ?", arguments: [limit])
        // What another version of this program wrote and this one cannot read goes with the next that it can.
        let writes = rows.compactMap { row in
            (try? JSONDecoder().decode(HistoryWrite.self, from: Data(row.text("entry").utf8))).map {
                QueuedWrite(sequence: row["sequence"], write: $0)
            }
        }
        return PlatformQueue(name: name, writes: writes)
    }
}
