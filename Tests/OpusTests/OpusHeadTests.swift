import Opus
import Testing
import Wire

@Suite("OpusHead")
struct OpusHeadTests {
    @Test
    func `comes back as written`() throws {
        let head = OpusHead(channelCount: 2, preSkip: 312, inputSampleRate: 48_000)
        var writer = ByteWriter()
        head.write(into: &writer)
        #expect(writer.bytes.count == 19)
        #expect(Array(writer.bytes[10...11]) == [0x38, 0x01])
        #expect(try OpusHead(parsing: writer.bytes.span.bytes) == head)
        for length in 0..<writer.count {
            #expect(throws: OpusError.truncated) { try OpusHead(parsing: Array(writer.bytes.prefix(length)).span.bytes) }
        }
        var other = writer.bytes
        other[8] = 0x10
        #expect(throws: OpusError.unsupportedHeader) { try OpusHead(parsing: other.span.bytes) }
    }
}
