// fuzz: module=FLV
import FLV
import Wire

/// The first byte chooses what the rest is read as; what is found must lie inside it.
enum FLVFuzz {
    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard let first = bytes.first else { return }
        let message = UnsafeRawBufferPointer(rebasing: bytes.dropFirst())
        switch first % 3 {
        case 0: if let tag = try? VideoTag(parsing: message.bytes) { check(tag.body, message) }
        case 1: if let tag = try? AudioTag(parsing: message.bytes) { check(tag.body, message) }
        default:
            var offset = 0
            while let tag = try? FLVTag.next(in: message.bytes, at: &offset) { check(tag.body, message) }
        }
    }

    private static func check(_ body: Range<Int>, _ message: UnsafeRawBufferPointer) {
        precondition(body.lowerBound >= 0 && body.upperBound <= message.count, "A payload lies outside its message")
    }
}
