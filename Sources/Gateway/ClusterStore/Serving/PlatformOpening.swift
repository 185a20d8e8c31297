import EventLoop
import Redis
import Store
import Wire

/// The platform on a connection that is made and closed again on the calling thread: at start, and for moving a platform.
struct PlatformOpening {
    let settings: RedisStoreSettings
    let process: String

    init(_ settings: RedisStoreSettings, process: String) { (self.settings, self.process) = (settings, process) }

    /// Reads everything and seeds what is missing.
    func load(seeding: (inout StateTransaction) throws -> Void) throws(StoreError) -> PlatformState {
        try use { platform throws(StoreError) in
            do {
                try platform.write(seeding)
                return platform.replica.state
            } catch {
                throw error as? StoreError ?? .failed(reason: String(describing: error))
            }
        }
    }

    /// - Throws: `.cannotOpen` when the database does not answer in time or belongs to another platform key.
    func use<Value>(_ body: (Platform) throws(StoreError) -> Value) throws(StoreError) -> Value {
        do throws(StoreError) {
            let loop = try makeLoop()
            let client = try WaitingClient(loop: loop, settings: settings.redis)
            defer { client.close() }
            client.start()
            guard client.connect(within: settings.startTimeout) else { throw .failed(reason: client.trouble) }
            let platform = Platform(server: client, settings: settings, process: process)
            try platform.verify()
            _ = try platform.reload()
            return try body(platform)
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
