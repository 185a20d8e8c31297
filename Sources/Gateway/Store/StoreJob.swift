/// One request to the store's thread.
enum StoreJob: Sendable {
    /// Gives the answer to its caller: nil when all is durable, or why it is not.
    typealias Acknowledge = @Sendable (StoreError?) -> Void
    typealias Refuse = @Sendable (any Error) -> Void

    case transaction(@Sendable (inout StateTransaction) throws -> Acknowledge, refuse: Refuse)
    case history([HistoryWrite])
    case reading(@Sendable (any HistoryReading) -> Void, refuse: Refuse)

    /// Tells whoever waits for an answer that there will be none.
    func refuse(_ reason: StoreError) {
        switch self {
        case .transaction(_, let refuse), .reading(_, let refuse): refuse(reason)
        case .history: break
        }
    }
}
