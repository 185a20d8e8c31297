import Testing
import Wire

@Suite("Byte cursor")
struct ByteReaderTests {
    @Test func `reads integers in network order`() {
        let bytes: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
        var reader = ByteReader(bytes.span.bytes)
        #expect(reader.read(UInt8.self) == 1)
        #expect(reader.read(UInt16.self) == 0x0203)
        #expect(reader.readUInt24() == 0x040506)
        #expect(reader.peek() == 7)
        #expect(reader.read(UInt32.self) == 0x0708_090A)
        let isAtEnd = reader.isAtEnd
        #expect(isAtEnd)
    }

    @Test func `answers nil at the end and consumes nothing`() {
        let bytes: [UInt8] = [1, 2]
        var reader = ByteReader(bytes.span.bytes)
        #expect(reader.read(UInt32.self) == nil)
        #expect(reader.readUInt24() == nil)
        #expect(reader.readBytes(count: 3) == nil)
        #expect(reader.readBytes(count: -1) == nil)
        let skipped = reader.skip(3)
        #expect(!skipped)
        let offset = reader.offset
        #expect(offset == 0)
        #expect(reader.readBytes(count: 2) == [1, 2])
        #expect(reader.peek() == nil)
    }
}
