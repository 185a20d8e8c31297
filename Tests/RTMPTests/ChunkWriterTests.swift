import Testing

@testable import RTMP

@Suite("Chunk writer")
struct ChunkWriterTests {
    @Test(arguments: [2, 63, 64, 319, 320, 65_599] as [UInt32], [0, 40, 0xFF_FFFE, 0xFF_FFFF, 0xFFFF_FFFF] as [UInt32])
    func `writes what the reader reads`(_ chunkStreamID: UInt32, _ timestamp: UInt32) throws {
        for length in [0, 1, 127, 128, 129, 1_000] {
            let payload = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
            var bytes: [UInt8] = []
            ChunkWriter().write(
                type: 9, timestamp: timestamp, streamID: 0x0102_0304, chunkStreamID: chunkStreamID, payload: payload, into: &bytes
            )
            #expect(try messages(in: [bytes]) == [Message(9, timestamp, 0x0102_0304, payload)])
        }
    }

    @Test func `cuts at the chunk size`() {
        var writer = ChunkWriter()
        writer.chunkSize = 2
        var bytes: [UInt8] = []
        writer.write(type: 20, streamID: 1, chunkStreamID: 3, payload: [1, 2, 3], into: &bytes)
        #expect(bytes == [0x03, 0, 0, 0, 0, 0, 3, 20, 1, 0, 0, 0, 1, 2, 0xC3, 3])
    }
}
