import EventLoop
import Redis
import Settings
import Store
import Wire

/// The cluster on a connection that is made and closed again on the calling thread: at start, for `StoreMigration` and for
/// `IndexRepair`.
struct DatabaseOpening {
    let settings: RedisStoreSettings
    let process: String

    init(_ settings: RedisStoreSettings, process: String) { (self.settings, self.process) = (settings, process) }

    /// Reads everything and seeds what is missing.
    /// - Returns: what was read, and the run ids of the servers that it was read from.
    func load(
        seeding: (inout StateTransaction) throws -> Void
    ) throws(StoreError) -> (snapshot: ClusterDatabase.Snapshot, runIDs: [String]) {
        var runIDs: [String] = []
        let snapshot = try use(connected: { runIDs = $0 }) { database throws(StoreError) in
            do {
                try database.write(seeding)
                return database.snapshot
            } catch {
                throw error as? StoreError ?? .failed(reason: String(describing: error))
            }
        }
        return (snapshot, runIDs)
    }

    /// - Parameter makesPlatform: whether a database that is nobody's becomes this platform's. Nodes that run believe one that
    ///   has lost its data from then on, and all their stages are gone.
    /// - Throws: `.cannotOpen` when the database does not answer in time or is not this platform's.
    func use<Value>(
        makesPlatform: Bool = true, connected: ([String]) -> Void = { _ in },
        _ body: (ClusterDatabase) throws(StoreError) -> Value
    ) throws(StoreError) -> Value {
        do throws(StoreError) {
            let loop = try makeLoop()
            let client = try WaitingClient(loop: loop, settings: settings.redis)
            defer { client.close() }
            client.start()
            guard client.connect(within: settings.cluster.startTimeout) else { throw .failed(reason: client.trouble) }
            connected(client.client.state.runIDs)
            let database = ClusterDatabase(server: client, settings: settings, process: process)
            try database.verify(makesPlatform: makesPlatform)
            try database.reload()
            return try body(database)
        } catch {
            throw .cannotOpen(path: "the cluster's database", reason: error.reason)
        }
    }

    private func makeLoop() throws(StoreError) -> EventLoop {
        do { return try EventLoop() } catch { throw .failed(reason: String(describing: error)) }
    }
}

extension WaitingClient {
    /// Why there is no connection.
    fileprivate var trouble: String {
        if case .away(_, let fault) = client.state { "\(fault)" } else { "connected" }
    }
}

extension StoreError {
    fileprivate var reason: String { if case .failed(let reason) = self { reason } else { description } }
}
