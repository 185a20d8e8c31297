// fuzz: module=CBOR
import CBOR

/// What was read is written and read again as the same value.
enum CBORFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard let value = try? CBORValue(parsing: Array(bytes)) else { return }
        let again = try? CBORValue(parsing: value.serialized)
        // Bytes, because a number that is none equals nothing.
        precondition(again?.serialized == value.serialized, "writing and reading changed the value")
    }
}
