import GRDB

/// What operators made and must never lose: `configuration.sqlite`, written with `synchronous=FULL`.
struct ConfigurationDatabase: Sendable {
    private let queue: DatabaseQueue

    init(directory: String) throws(StoreError) {
        queue = try DatabaseFile.open("\(directory)/configuration.sqlite", synchronous: "FULL", migrator: Self.migrator)
    }

    func load() throws -> PlatformState {
        try queue.read { database in
            var state = PlatformState()
            for record in try Stage.all(database) { state.put(.stage(record)) }
            for record in try PublicKey.all(database) { state.put(.publicKey(record)) }
            for record in try IngestConfiguration.all(database) { state.put(.ingestConfiguration(record)) }
            for record in try Revocation.all(database) { state.put(.revocation(record)) }
            for record in try Placement.all(database) { state.put(.placement(record)) }
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
        return migrator
    }
}
