// fuzz: module=JSON
import JSON

/// What was read is written and read again as the same value.
enum JSONFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard let value = try? JSONValue(parsing: Array(bytes)) else { return }
        let again = try? JSONValue(parsing: value.serialized(), limits: JSONLimits(maximumLength: .max))
        precondition(again == value, "writing and reading changed the value")
    }
}
