import Foundation
import GRDB

/// Opens one SQLite file of the data directory: WAL, readable by its owner only, migrated to the present schema.
enum DatabaseFile {
    static func open(_ path: String, synchronous: String, migrator: DatabaseMigrator) throws(StoreError) -> DatabaseQueue {
        do {
            try create(path)
            var configuration = Configuration()
            configuration.prepareDatabase { database in
                try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = \(synchronous)")
            }
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try migrator.migrate(queue)
            return queue
        } catch {
            throw .cannotOpen(path: path, reason: String(describing: error))
        }
    }

    /// SQLite gives its journal and WAL the mode of the database, which therefore is made before SQLite sees it.
    private static func create(_ path: String) throws {
        if !FileManager.default.fileExists(atPath: path) {
            guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
                throw CocoaError(.fileWriteUnknown)
            }
        }
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }
}
