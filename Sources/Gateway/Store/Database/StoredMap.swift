import Foundation
import GRDB
import Wire

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
