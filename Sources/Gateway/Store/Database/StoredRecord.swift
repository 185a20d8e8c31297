import Foundation
import GRDB
import Wire

/// A value that is one row of one table. Times are whole nanoseconds since 1970, maps are JSON text.
protocol StoredRecord: Sendable {
    static var table: String { get }
    /// The primary key first.
    static var columns: [String] { get }
    static var keyColumns: [String] { get }
    /// Columns that an existing row keeps or combines: name → SQL expression.
    static var mergedColumns: [String: String] { get }
    /// In the order of `columns`.
    var values: [(any DatabaseValueConvertible & Sendable)?] { get }
    init(row: Row)
}

extension StoredRecord {
    static var mergedColumns: [String: String] { [:] }

    func put(_ database: Database) throws {
        try database.cachedStatement(sql: Self.upsert)
            .execute(arguments: StatementArguments(values.map { $0?.databaseValue ?? .null }))
    }

    private static var upsert: String {
        let marks = columns.map { _ in "?" }.joined(separator: ", ")
        let updates = columns.map { "\($0) = \(mergedColumns[$0] ?? "excluded.\($0)")" }.joined(separator: ", ")
        return "INSERT INTO \(table) (\(columns.joined(separator: ", "))) VALUES (\(marks)) "
            + "ON CONFLICT (\(keyColumns.joined(separator: ", "))) DO UPDATE SET \(updates)"
    }

    static func delete(_ database: Database, key: [String]) throws {
        let condition = zip(keyColumns, key).map { "\($0.0) = ?" }.joined(separator: " AND ")
        try database.cachedStatement(sql: "DELETE FROM \(table) WHERE \(condition)").execute(arguments: StatementArguments(key))
    }

    static func all(_ database: Database) throws -> [Self] {
        try Row.fetchAll(database, sql: "SELECT * FROM \(table)").map(Self.init(row:))
    }

    static func fetch(_ database: Database, where condition: String, _ arguments: StatementArguments) throws -> [Self] {
        let statement = try database.cachedStatement(sql: "SELECT * FROM \(table) WHERE \(condition)")
        return try Row.fetchAll(statement, arguments: arguments).map(Self.init(row:))
    }
}

/// Attributes and tags as one column: a JSON object with sorted keys.
struct StoredMap: DatabaseValueConvertible {
    var map: [String: String]

    init(_ map: [String: String]) { self.map = map }

    var databaseValue: DatabaseValue {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let data = try? encoder.encode(map) else { return "{}".databaseValue }  // strings always encode
        return String(decoding: data, as: UTF8.self).databaseValue
    }

    static func fromDatabaseValue(_ value: DatabaseValue) -> StoredMap? {
        guard let text = String.fromDatabaseValue(value),
            let map = try? JSONDecoder().decode([String: String].self, from: Data(text.utf8))
        else { return nil }
        return StoredMap(map)
    }
}

extension Row {
    func map(_ column: String) -> [String: String] { StoredMap.fromDatabaseValue(self[column])?.map ?? [:] }
    func text(_ column: String) -> String { self[column] ?? "" }
    func flag(_ column: String) -> Bool { self[column] ?? false }
    func time(_ column: String) -> WallTime { WallTime(nanosecondsSince1970: self[column] ?? 0) }
}
