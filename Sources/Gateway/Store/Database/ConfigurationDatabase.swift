import GRDB
import Wire

/// What operators made and must never lose: `configuration.sqlite`, written with `synchronous=FULL`.
struct ConfigurationDatabase: Sendable {
    private let queue: DatabaseQueue

    init(directory: String) throws(StoreError) {
        queue = try DatabaseFile.open("\(directory)/configuration.sqlite", synchronous: "FULL", migrator: Self.migrator)
    }

    func load() throws -> StoreState {
        try queue.read { database in
            var state = StoreState()
            for record in try Stage.all(database) { state.put(.stage(record)) }
            for record in try PublicKey.all(database) { state.put(.publicKey(record)) }
            for record in try IngestConfiguration.all(database) { state.put(.ingestConfiguration(record)) }
            for record in try StorageConfiguration.all(database) { state.put(.storageConfiguration(record)) }
            for record in try Revocation.all(database) { state.put(.revocation(record)) }
            for record in try Placement.all(database) { state.put(.placement(record)) }
            for record in try Replication.all(database) { state.put(.replication(record)) }
            for record in try Setting.all(database) { state.put(.setting(record)) }
            return state
        }
    }

    /// Writes all changes with one commit, and so one fsync.
    func commit(_ changes: [Change]) throws {
        guard !changes.isEmpty else { return }
        try queue.write { database in
            for change in changes { try change.apply(database) }
        }
    }

    func close() { try? queue.close() }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 stages, keys and ingest configurations") { database in
            try database.execute(
                sql: """
                    CREATE TABLE stage (arn TEXT PRIMARY KEY, name TEXT NOT NULL, tags TEXT NOT NULL, createdAt INTEGER NOT NULL)
                        WITHOUT ROWID;
                    CREATE TABLE publicKey (
                        arn TEXT PRIMARY KEY, name TEXT NOT NULL, material TEXT NOT NULL, fingerprint TEXT NOT NULL,
                        tags TEXT NOT NULL, createdAt INTEGER NOT NULL) WITHOUT ROWID;
                    CREATE TABLE ingestConfiguration (
                        arn TEXT PRIMARY KEY, name TEXT NOT NULL, stageARN TEXT NOT NULL, participantID TEXT NOT NULL,
                        streamKey TEXT NOT NULL, transport TEXT NOT NULL, insecureIngest INTEGER NOT NULL,
                        redundantIngest INTEGER NOT NULL, redundantCredentials TEXT NOT NULL, userID TEXT NOT NULL,
                        attributes TEXT NOT NULL, tags TEXT NOT NULL, createdAt INTEGER NOT NULL) WITHOUT ROWID;
                    CREATE TABLE revocation (
                        stageARN TEXT NOT NULL, participantID TEXT NOT NULL, expiresAt INTEGER NOT NULL,
                        PRIMARY KEY (stageARN, participantID)) WITHOUT ROWID;
                    CREATE TABLE placement (
                        stageID TEXT NOT NULL, replica INTEGER NOT NULL, router TEXT NOT NULL, generation INTEGER NOT NULL,
                        PRIMARY KEY (stageID, replica)) WITHOUT ROWID;
                    CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("2 recording") { database in
            try database.execute(
                sql: """
                    ALTER TABLE stage ADD COLUMN recording TEXT NOT NULL DEFAULT '';
                    CREATE TABLE storageConfiguration (
                        arn TEXT PRIMARY KEY, name TEXT NOT NULL, bucketName TEXT NOT NULL, tags TEXT NOT NULL,
                        createdAt INTEGER NOT NULL) WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("3 replication") { database in
            try database.execute(
                sql: """
                    CREATE TABLE replication (
                        sourceStageARN TEXT NOT NULL, participantID TEXT NOT NULL, destinationStageARN TEXT NOT NULL,
                        number TEXT NOT NULL, attributes TEXT NOT NULL, reconnectWindow INTEGER NOT NULL, state TEXT NOT NULL,
                        refusedBy INTEGER NOT NULL, sourceSessionID TEXT NOT NULL, destinationSessionID TEXT NOT NULL,
                        sourceGeneration INTEGER NOT NULL, startedAt INTEGER NOT NULL,
                        PRIMARY KEY (sourceStageARN, participantID, destinationStageARN)) WITHOUT ROWID;
                    """)
        }
        return migrator
    }
}

extension Change {
    /// Carries the change out in the file's tables.
    func apply(_ database: Database) throws {
        switch self {
        case .put(let record): try record.row.put(database)
        case .delete(.stage(let arn)): try Stage.delete(database, key: [arn])
        case .delete(.publicKey(let arn)): try PublicKey.delete(database, key: [arn])
        case .delete(.ingestConfiguration(let arn)): try IngestConfiguration.delete(database, key: [arn])
        case .delete(.storageConfiguration(let arn)): try StorageConfiguration.delete(database, key: [arn])
        case .delete(.revocation(let arn, let participantID)): try Revocation.delete(database, key: [arn, participantID])
        case .delete(.placement(let key)): try Placement.delete(database, key: [key.stageID, String(key.replica)])
        case .delete(.replication(let key)):
            try Replication.delete(database, key: [key.sourceStageARN, key.participantID, key.destinationStageARN])
        case .delete(.setting(let name)): try Setting.delete(database, key: [name])
        }
    }
}

extension Record {
    fileprivate var row: any StoredRecord {
        switch self {
        case .stage(let stage): stage
        case .publicKey(let key): key
        case .ingestConfiguration(let configuration): configuration
        case .storageConfiguration(let configuration): configuration
        case .revocation(let revocation): revocation
        case .placement(let placement): placement
        case .replication(let replication): replication
        case .setting(let setting): setting
        }
    }
}
