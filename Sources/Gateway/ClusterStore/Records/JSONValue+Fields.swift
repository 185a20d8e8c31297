import JSON
import Wire

/// The kinds of fields that records have.
extension JSONValue {
    static func time(_ time: WallTime) -> JSONValue { .integer(time.nanosecondsSince1970) }

    /// With sorted names, so that equal maps are equal text.
    static func map(_ map: [String: String]) -> JSONValue {
        .object(JSONObject(map.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }))
    }

    func text(_ name: String) throws(RecordError) -> String {
        guard let text = self[name]?.string else { throw .malformed }
        return text
    }

    func flag(_ name: String) throws(RecordError) -> Bool {
        guard let flag = self[name]?.bool else { throw .malformed }
        return flag
    }

    func number(_ name: String) throws(RecordError) -> Int64 {
        guard let number = self[name]?.integer else { throw .malformed }
        return number
    }

    func time(_ name: String) throws(RecordError) -> WallTime { WallTime(nanosecondsSince1970: try number(name)) }

    func map(_ name: String) throws(RecordError) -> [String: String] {
        guard let members = self[name]?.object?.members else { throw .malformed }
        var map: [String: String] = [:]
        for (name, value) in members {
            guard let value = value.string else { throw .malformed }
            map[name] = value
        }
        return map
    }
}
