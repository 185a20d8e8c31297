// fuzz: module=HTTP
import HTTP

/// A header never claims more bytes than it was given.
enum PROXYHeaderFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard let header = try? PROXYHeader.parse(bytes.bytes) else { return }
        precondition(header.byteCount <= bytes.count, "a header longer than its bytes")
    }
}
