import GRDB
import StageMetrics

/// The metrics' points beside the history: bounded in time, in series and in points.
struct MetricTables {
    private let database: Database

    init(_ database: Database) { self.database = database }

    func create() throws {
        try database.execute(
            sql: """
                CREATE TABLE metricSeries (
                    id INTEGER PRIMARY KEY, stage TEXT NOT NULL, path TEXT NOT NULL UNIQUE, lastMinute INTEGER NOT NULL,
                    points INTEGER NOT NULL DEFAULT 0);
                CREATE INDEX metricSeriesOfStage ON metricSeries (stage, path);
                CREATE TABLE metricPoint (
                    series INTEGER NOT NULL, minute INTEGER NOT NULL, count INTEGER NOT NULL, sum REAL NOT NULL,
                    minimum REAL NOT NULL, maximum REAL NOT NULL,
                    PRIMARY KEY (series, minute)) WITHOUT ROWID;
                """)
    }

    func append(_ samples: [MetricSample]) throws {
        for sample in samples {
            let id = try countPoint(of: sample.series, at: sample.point.minute)
            try put(sample.point, ofID: id, "INSERT OR IGNORE")
            if database.changesCount == 0 { try merge(sample.point, ofID: id, isCount: sample.series.metric.isCount) }
        }
    }

    /// One point more; makes the series where it is new.
    private func countPoint(of series: MetricSeries, at minute: Int32) throws -> Int64 {
        let statement = try database.cachedStatement(
            sql: """
                INSERT INTO metricSeries (stage, path, lastMinute, points) VALUES (?, ?, ?, 1) ON CONFLICT (path) DO UPDATE
                    SET points = points + 1, lastMinute = max(lastMinute, excluded.lastMinute) RETURNING id
                """)
        guard let id = try Int64.fetchOne(statement, arguments: [series.stageID, series.path, minute]) else {
            throw StoreError.failed(reason: "a series has no number")
        }
        return id
    }

    private func put(_ point: MetricPoint, ofID id: Int64, _ verb: String) throws {
        let columns = "series, minute, count, sum, minimum, maximum"
        try database.cachedStatement(sql: "\(verb) INTO metricPoint (\(columns)) VALUES (?, ?, ?, ?, ?, ?)").execute(
            arguments: [id, point.minute, point.count, point.sum, point.minimum, point.maximum])
    }

    /// Adds to a point that is there already, and was counted then.
    private func merge(_ point: MetricPoint, ofID id: Int64, isCount: Bool) throws {
        let minutes = point.minute..<point.minute + 1
        guard var former = try EmbeddedHistory(database).metricPoints(ofID: id, in: minutes).first else { return }
        former.merge(point, isCount: isCount)
        try put(former, ofID: id, "REPLACE")
        try database.cachedStatement(sql: "UPDATE metricSeries SET points = points - 1 WHERE id = ?").execute(arguments: [id])
    }

    /// Forgets points that are too old or too many, and series without any.
    func remove(before minute: Int32, maximumPoints: Int) throws {
        for age in 0..<MetricRetention.days {
            try removePoints(before: minute + age * 24 * 60)
            let count = try Int.fetchOne(database, sql: "SELECT sum(points) FROM metricSeries") ?? 0
            if count <= maximumPoints { break }
        }
    }

    private func removePoints(before minute: Int32) throws {
        let superfluous = """
            (SELECT id FROM metricSeries ORDER BY lastMinute DESC LIMIT -1 OFFSET \(MetricRetention.maximumSeries))
            """
        try database.execute(sql: "DELETE FROM metricPoint WHERE series IN \(superfluous)")
        try database.execute(sql: "DELETE FROM metricSeries WHERE id IN \(superfluous)")
        try database.execute(
            sql: """
                UPDATE metricSeries SET points = points - (SELECT count(*) FROM metricPoint WHERE series = id AND minute < ?)
                """, arguments: [minute])
        try database.execute(
            sql: "DELETE FROM metricPoint WHERE series IN (SELECT id FROM metricSeries) AND minute < ?", arguments: [minute])
        try database.execute(sql: "DELETE FROM metricSeries WHERE points = 0")
    }
}

extension EmbeddedHistory {
    func metricSeries(ofStage stage: String?, since minute: Int32) throws -> [MetricSeries] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT path FROM metricSeries WHERE \(stage == nil ? "? IS NULL" : "stage = ?") AND lastMinute >= ?
                """)
        return try String.fetchAll(statement, arguments: [stage, minute]).compactMap { MetricSeries(path: $0) }.sorted()
    }

    func metricPoints(of series: [MetricSeries], in minutes: Range<Int32>) throws -> [[MetricPoint]] {
        try series.map { series in
            let statement = try database.cachedStatement(sql: "SELECT id FROM metricSeries WHERE path = ?")
            guard let id = try Int64.fetchOne(statement, arguments: [series.path]) else { return [] }
            return try metricPoints(ofID: id, in: minutes)
        }
    }

    func metricPoints(ofID id: Int64, in minutes: Range<Int32>) throws -> [MetricPoint] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT minute, count, sum, minimum, maximum FROM metricPoint WHERE series = ? AND minute >= ? AND minute < ?
                    ORDER BY minute
                """)
        return try Row.fetchAll(statement, arguments: [id, minutes.lowerBound, minutes.upperBound]).map { row in
            MetricPoint(minute: row[0], count: row[1], sum: row[2], minimum: row[3], maximum: row[4])
        }
    }
}
