package import Wire

/// The two files of a gateway that is not running, for moving what they hold.
package struct EmbeddedFiles {
    /// Writes handed over at once.
    static let page = 500

    private let configuration: ConfigurationDatabase
    private let history: HistoryDatabase

    /// - Parameter directory: the data directory, which the caller has locked.
    package init(directory: String) throws(StoreError) {
        (configuration, history) = try StoreFiles(directory: directory, webhooks: [], isQueueing: false).open()
    }

    package func close() {
        configuration.close()
        history.close()
    }

    package func load() throws(StoreError) -> PlatformState {
        do { return try configuration.load() } catch { throw .failed(reason: String(describing: error)) }
    }

    package func commit(_ changes: [Change]) throws(StoreError) {
        do { try configuration.commit(changes) } catch { throw .failed(reason: String(describing: error)) }
    }

    package func append(_ writes: [HistoryWrite]) throws(StoreError) {
        do { _ = try history.append(writes) } catch { throw .failed(reason: String(describing: error)) }
    }

    /// Tells this data directory from all others.
    package func queueName() throws(StoreError) -> String {
        var name = Result<String, any Error>.success("")
        do {
            try history.read { history in name = Result { try history.platformQueue(limit: 0).name } }
            return try name.get()
        } catch {
            throw .failed(reason: String(describing: error))
        }
    }

    /// Ends what a process that died left open, then gives the whole history as the writes that make it again.
    package func eachWrite(at now: WallTime, _ body: ([HistoryWrite]) throws(StoreError) -> Void) throws(StoreError) {
        do {
            try history.endAbandoned(at: now)
            for part in HistoryDatabase.Part.allCases {
                var offset = 0
                while true {
                    let writes = try history.writes(part, offset: offset, limit: Self.page)
                    if writes.isEmpty { break }
                    try body(writes)
                    offset += Self.page
                }
            }
        } catch {
            throw error as? StoreError ?? .failed(reason: String(describing: error))
        }
    }
}
