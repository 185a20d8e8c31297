import GRDB
import Glibc
package import Wire

/// The two files of a gateway that is not running, for moving what they hold.
package struct EmbeddedFiles {
    /// Rows whose writes are handed over at once.
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

    package func load() throws(StoreError) -> StoreState {
        do { return try configuration.load() } catch { throw .failed(reason: String(describing: error)) }
    }

    package func commit(_ changes: [Change]) throws(StoreError) {
        do { try configuration.commit(changes) } catch { throw .failed(reason: String(describing: error)) }
    }

    package func append(_ writes: [HistoryWrite]) throws(StoreError) {
        do { _ = try history.append(writes) } catch { throw .failed(reason: String(describing: error)) }
    }

    /// Tells this data directory from all others.
    package func queueName() throws(StoreError) -> String { try read { try $0.historyQueue(limit: 0).name } }

    package func hasHistory(ofStage arn: String) throws(StoreError) -> Bool {
        try read { try !$0.sessions(ofStage: arn, after: nil, limit: 1).isEmpty }
    }

    private func read<Value>(_ body: (EmbeddedHistory) throws -> Value) throws(StoreError) -> Value {
        do { return try history.read(body) } catch { throw .failed(reason: String(describing: error)) }
    }

    /// Ends what a process that died left open, then gives the whole history as the writes that make it again.
    /// - Throws: what `body` does; `.failed` when a part of it cannot be read, which is not the end of it.
    package func eachWrite(at now: WallTime, _ body: ([HistoryWrite]) throws(StoreError) -> Void) throws(StoreError) {
        do {
            try history.endAbandoned(at: now)
            for part in HistoryPart.allCases {
                var offset = 0
                while true {
                    let writes = try history.writes(part, offset: offset, limit: Self.page)
                    if writes.isEmpty { break }
                    try body(writes)
                    offset += Self.page
                }
            }
        } catch {
            throw error as? StoreError ?? .failed(reason: "the history cannot be read whole: \(error)")
        }
    }
}

/// The two files of the data directory, as often as they are opened.
struct StoreFiles: Sendable {
    let directory: String
    /// Receivers for whom events are kept until they took them.
    let webhooks: [String]
    /// Whether the history is kept for the cluster until its database has it.
    let isQueueing: Bool

    func open() throws(StoreError) -> (ConfigurationDatabase, HistoryDatabase) {
        (try ConfigurationDatabase(directory: directory), try HistoryDatabase(directory: directory, isQueueing: isQueueing))
    }
}

/// Opens one SQLite file of the data directory: WAL, readable by its owner only, migrated to the present schema.
enum DatabaseFile {
    /// KiB of a file's pages that SQLite keeps, and never gives back; by itself it would keep 2,000. The kernel has the same pages,
    /// and can take them back: one that is missing here costs a system call, for which no media waits.
    static let maximumCache = 512

    static func open(_ path: String, synchronous: String, migrator: DatabaseMigrator) throws(StoreError) -> DatabaseQueue {
        try create(path)
        do {
            var configuration = Configuration()
            configuration.prepareDatabase { database in
                try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = \(synchronous)")
                // SQLite takes a negative number for KiB, a positive one for pages.
                try database.execute(sql: "PRAGMA cache_size = -\(maximumCache)")
            }
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try migrator.migrate(queue)
            return queue
        } catch {
            throw .cannotOpen(path: path, reason: String(describing: error))
        }
    }

    /// SQLite gives its journal and WAL the mode of the database, which therefore is made before SQLite sees it. One that is
    /// there is not opened: to close it would free this process's locks on it (fcntl(2)).
    private static func create(_ path: String) throws(StoreError) {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 || errno == EEXIST else { throw failure(of: path, errno) }
        if descriptor >= 0 { close(descriptor) }
        guard chmod(path, 0o600) == 0 else { throw failure(of: path, errno) }
    }

    /// Of a file that is there only its owner may change the mode.
    private static func failure(of path: String, _ code: CInt) -> StoreError {
        let isForeign = code == EPERM
        let reason = isForeign ? "it belongs to another user: give it to this one (chown)" : String(cString: strerror(code))
        return .cannotOpen(path: path, reason: reason)
    }
}
