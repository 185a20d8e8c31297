/// The two files of the data directory, as often as they are opened.
struct StoreFiles: Sendable {
    let directory: String
    /// Receivers for whom events are kept until they took them.
    let webhooks: [String]
    /// Whether the history is kept for the platform until it took it.
    let isQueueing: Bool

    func open() throws(StoreError) -> (ConfigurationDatabase, HistoryDatabase) {
        (try ConfigurationDatabase(directory: directory), try HistoryDatabase(directory: directory, isQueueing: isQueueing))
    }
}
