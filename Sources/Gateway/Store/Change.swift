/// One record put or deleted by a transaction.
package enum Change: Sendable {
    case put(Record)
    case delete(Record.ID)

    package var id: Record.ID {
        switch self {
        case .put(let record): record.id
        case .delete(let id): id
        }
    }
}
