import GRDB

/// One row put or deleted by a transaction.
enum Change: Sendable {
    case put(any StoredRecord)
    case delete(any StoredRecord.Type, key: [String])

    func apply(_ database: Database) throws {
        switch self {
        case .put(let record): try record.put(database)
        case .delete(let type, let key): try type.delete(database, key: key)
        }
    }
}
