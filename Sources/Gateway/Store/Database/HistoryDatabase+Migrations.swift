import GRDB

/// The tables of `events.sqlite`, as they have grown.
extension HistoryDatabase {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 sessions, participants, events and outbox") { database in
            try database.execute(
                sql: """
                    CREATE TABLE stageSession (
                        stageARN TEXT NOT NULL, sessionID TEXT NOT NULL, startTime INTEGER NOT NULL, endTime INTEGER,
                        PRIMARY KEY (stageARN, sessionID)) WITHOUT ROWID;
                    CREATE TABLE participant (
                        stageARN TEXT NOT NULL, sessionID TEXT NOT NULL, participantID TEXT NOT NULL, userID TEXT NOT NULL,
                        attributes TEXT NOT NULL, isConnected INTEGER NOT NULL, published INTEGER NOT NULL,
                        firstJoinTime INTEGER NOT NULL, ingestProtocol TEXT NOT NULL, ingestConfigurationARN TEXT NOT NULL,
                        browserName TEXT NOT NULL, browserVersion TEXT NOT NULL, osName TEXT NOT NULL, osVersion TEXT NOT NULL,
                        sdkVersion TEXT NOT NULL,
                        PRIMARY KEY (stageARN, sessionID, participantID)) WITHOUT ROWID;
                    CREATE TABLE event (
                        sequence INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, time INTEGER NOT NULL,
                        stageARN TEXT NOT NULL, sessionID TEXT NOT NULL, participantID TEXT NOT NULL, userID TEXT NOT NULL,
                        errorCode TEXT NOT NULL, generation INTEGER NOT NULL);
                    CREATE INDEX eventOfParticipant ON event (stageARN, sessionID, participantID, sequence);
                    CREATE TABLE target (name TEXT PRIMARY KEY) WITHOUT ROWID;
                    CREATE TABLE outbox (
                        target TEXT NOT NULL, sequence INTEGER NOT NULL, PRIMARY KEY (target, sequence)) WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("2 warnings") { database in
            try database.execute(
                sql: """
                    ALTER TABLE event ADD COLUMN rule TEXT NOT NULL DEFAULT '';
                    ALTER TABLE event ADD COLUMN sentence TEXT NOT NULL DEFAULT '';
                    """)
        }
        migrator.registerMigration("3 what waits for the platform") { database in
            try database.execute(
                sql: """
                    ALTER TABLE participant ADD COLUMN closedGeneration INTEGER NOT NULL DEFAULT 0;
                    CREATE TABLE platformQueue (sequence INTEGER PRIMARY KEY AUTOINCREMENT, entry TEXT NOT NULL);
                    CREATE TABLE platformQueueName (name TEXT NOT NULL);
                    INSERT INTO platformQueueName VALUES (lower(hex(randomblob(8))));
                    """)
        }
        migrator.registerMigration("4 recordings") { database in
            for (table, columns) in [
                ("participant", ["recordingState", "recordingBucket", "recordingPrefix"]),
                ("event", ["recordingBucket", "recordingPrefix"]),
            ] {
                for column in columns {
                    try database.execute(sql: "ALTER TABLE \(table) ADD COLUMN \(column) TEXT NOT NULL DEFAULT ''")
                }
            }
            try database.execute(sql: "ALTER TABLE event ADD COLUMN recordingDuration INTEGER")
        }
        migrator.registerMigration("5 who is watched") { database in
            try database.execute(sql: "ALTER TABLE event ADD COLUMN remoteParticipantID TEXT NOT NULL DEFAULT ''")
        }
        migrator.registerMigration("6 replication") { database in
            for (table, columns) in [
                ("participant", ["replicationType", "replicationState", "sourceStageARN", "sourceSessionID"]),
                ("event", ["destinationStageARN", "destinationSessionID"]),
            ] {
                for column in columns {
                    try database.execute(sql: "ALTER TABLE \(table) ADD COLUMN \(column) TEXT NOT NULL DEFAULT ''")
                }
            }
            try database.execute(sql: "ALTER TABLE event ADD COLUMN isReplica INTEGER NOT NULL DEFAULT 0")
        }
        migrator.registerMigration("7 metrics") { try MetricTables($0).create() }
        migrator.registerMigration("8 recordings before their participants") { database in
            try database.execute(
                sql: """
                    CREATE TABLE earlyRecording (
                        state TEXT NOT NULL, bucket TEXT NOT NULL, prefix TEXT NOT NULL,
                        stageARN TEXT NOT NULL, sessionID TEXT NOT NULL, participantID TEXT NOT NULL,
                        PRIMARY KEY (stageARN, sessionID, participantID)) WITHOUT ROWID
                    """)
        }
        migrator.registerMigration("9 events of network tests") { database in
            try database.execute(sql: "ALTER TABLE event ADD COLUMN isListed INTEGER NOT NULL DEFAULT 1")
        }
        // In a table without row ids whose key does not come first, SQLite 3.40 (Debian 12) takes what is there for NULL when it
        // checks the file (PRAGMA integrity_check).
        migrator.registerMigration("10 early recordings that a check finds whole") { database in
            try database.execute(
                sql: """
                    ALTER TABLE earlyRecording RENAME TO formerEarlyRecording;
                    CREATE TABLE earlyRecording (
                        state TEXT NOT NULL, bucket TEXT NOT NULL, prefix TEXT NOT NULL,
                        stageARN TEXT NOT NULL, sessionID TEXT NOT NULL, participantID TEXT NOT NULL,
                        PRIMARY KEY (stageARN, sessionID, participantID));
                    INSERT INTO earlyRecording SELECT * FROM formerEarlyRecording;
                    DROP TABLE formerEarlyRecording;
                    """)
        }
        return migrator
    }
}
