import FLV
import Testing
import Wire

@Suite("FLV tags")
struct FLVTagTests {
    static let twoTags: [UInt8] =
        [8, 0, 0, 2, 0x12, 0x34, 0x56, 0x01, 0, 0, 0, 0xAF, 1, 0, 0, 0, 13]  // audio, 2 bytes, timestamp 0x01123456
        + [9, 0, 0, 1, 0, 0, 5, 0, 0, 0, 0, 0x27, 0, 0, 0, 12]  // video, 1 byte, timestamp 5

    private func tags(in bytes: [UInt8]) throws -> [FLVTag] {
        var offset = 0
        var tags: [FLVTag] = []
        while let tag = try FLVTag.next(in: bytes.span.bytes, at: &offset) { tags.append(tag) }
        return tags
    }

    @Test func `reads tag after tag`() throws {
        #expect(
            try tags(in: Self.twoTags) == [
                FLVTag(type: 8, timestamp: 0x0112_3456, body: 11..<13), FLVTag(type: 9, timestamp: 5, body: 28..<29),
            ])
    }

    @Test func `takes a last tag without its back pointer`() throws {
        #expect(try tags(in: Array(Self.twoTags.dropLast(4))).count == 2)
    }

    @Test func `rejects a piece of a header, and a body that is not there`() {
        #expect(throws: FLVError.truncated) { try tags(in: Array(Self.twoTags.prefix(20))) }
        #expect(throws: FLVError.overlong) { try tags(in: Array(Self.twoTags.prefix(12))) }
    }
}
