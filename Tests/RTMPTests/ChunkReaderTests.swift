import RTMP
import TestSupport
import Testing
import Wire

@testable import RTMP

struct Message: Equatable {
    var type: UInt8
    var timestamp: UInt32
    var streamID: UInt32
    var payload: [UInt8]

    init(_ type: UInt8, _ timestamp: UInt32, _ streamID: UInt32, _ payload: [UInt8]) {
        (self.type, self.timestamp, self.streamID, self.payload) = (type, timestamp, streamID, payload)
    }
}

/// Reads pieces as a connection would: what is left over comes again with the next piece.
func messages(in pieces: [[UInt8]], limits: ChunkLimits = .publishing) throws -> [Message] {
    var reader = ChunkReader(limits: limits)
    var waiting: [UInt8] = []
    var found: [Message] = []
    for piece in pieces {
        waiting += piece
        var offset = 0
        try waiting.withUnsafeBytes { input in
            while let message = try reader.next(in: input, at: &offset) {
                found.append(Message(message.type, message.timestamp, message.streamID, Array(message.payload)))
            }
        }
        waiting.removeFirst(offset)
    }
    return found
}

func setChunkSize(_ size: UInt32) -> [UInt8] {
    [0x02, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0] + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: size >> $0) }
}

@Suite("Chunk reader")
struct ChunkReaderTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var bytes: [UInt8]
        var messages: [Message]

        init(_ name: String, _ bytes: [UInt8], _ messages: [Message]) {
            (testDescription, self.bytes, self.messages) = (name, bytes, messages)
        }
    }

    static let long = (0..<300).map { UInt8(truncatingIfNeeded: $0) }
    static let header: [UInt8] = [0x04, 0, 0, 40, 0, 0, 2, 9, 1, 0, 0, 0]  // csid 4, 40 ms, 2 bytes, video, stream 1
    static let first: [UInt8] = header + [7, 8]

    static let cases: [Case] = [
        Case("format 0", first, [Message(9, 40, 1, [7, 8])]),
        Case(
            "format 1: new length and type", first + [0x44, 0, 0, 20, 0, 0, 1, 8, 5],
            [Message(9, 40, 1, [7, 8]), Message(8, 60, 1, [5])]),
        Case("format 2: delta alone", first + [0x84, 0, 0, 20, 5, 6], [Message(9, 40, 1, [7, 8]), Message(9, 60, 1, [5, 6])]),
        Case(
            "format 3: the last delta again", first + [0x84, 0, 0, 20, 5, 6, 0xC4, 3, 4],
            [Message(9, 40, 1, [7, 8]), Message(9, 60, 1, [5, 6]), Message(9, 80, 1, [3, 4])]),
        Case(
            "format 3 after format 0: its stamp is the delta", first + [0xC4, 3, 4],
            [Message(9, 40, 1, [7, 8]), Message(9, 80, 1, [3, 4])]),
        Case(
            "format 3 after a format 0 with an hour: no delta",
            [0x04, 0x36, 0xEE, 0x80, 0, 0, 1, 9, 1, 0, 0, 0, 7, 0xC4, 8],
            [Message(9, 3_600_000, 1, [7]), Message(9, 3_600_000, 1, [8])]),
        Case("two-byte id", [0x00, 0xFF] + header.dropFirst() + [7, 8], [Message(9, 40, 1, [7, 8])]),
        Case("three-byte id", [0x01, 0xFF, 0xFF] + header.dropFirst() + [7, 8], [Message(9, 40, 1, [7, 8])]),
        Case(
            "one id in two forms", [0x00, 0x00] + header.dropFirst() + [7, 8] + [0x81, 0, 0, 0, 0, 20, 5, 6],
            [Message(9, 40, 1, [7, 8]), Message(9, 60, 1, [5, 6])]),
        Case("empty message", [0x04, 0, 0, 0, 0, 0, 0, 8, 1, 0, 0, 0], [Message(8, 0, 1, [])]),
        Case(
            "a message of three chunks",
            [0x04, 0, 0, 40, 0, 1, 44, 9, 1, 0, 0, 0] + long[..<128] + [0xC4] + long[128..<256] + [0xC4] + long[256...],
            [Message(9, 40, 1, long)]),
        Case(
            "chunks of two messages in turn",
            [0x04, 0, 0, 40, 0, 1, 44, 9, 1, 0, 0, 0] + long[..<128] + [0x05, 0, 0, 41, 0, 0, 1, 8, 1, 0, 0, 0, 5] + [0xC4]
                + long[128..<256] + [0xC4] + long[256...],
            [Message(8, 41, 1, [5]), Message(9, 40, 1, long)]),
        Case(
            "a larger chunk size", setChunkSize(300) + [0x04, 0, 0, 40, 0, 1, 44, 9, 1, 0, 0, 0] + long, [Message(9, 40, 1, long)]
        ),
        Case(
            "a chunk size of 1", setChunkSize(1) + header + [7, 0xC4, 8] + [0x84, 0, 0, 20, 5, 0xC4, 6],
            [Message(9, 40, 1, [7, 8]), Message(9, 60, 1, [5, 6])]),
        Case(
            "the largest chunk size",
            setChunkSize(0x7FFF_FFFF) + [0x04, 0, 0, 40, 0, 1, 44, 9, 1, 0, 0, 0] + long + [0xC4] + long,
            [Message(9, 40, 1, long), Message(9, 80, 1, long)]),
        Case(
            "a chunk size that changes inside a message",
            [0x04, 0, 0, 40, 0, 1, 44, 9, 1, 0, 0, 0] + long[..<128] + setChunkSize(100) + [0xC4] + long[128..<228] + [0xC4]
                + long[228...], [Message(9, 40, 1, long)]),
        Case(
            "an aborted message",
            [0x04, 0, 0, 40, 0, 1, 44, 9, 1, 0, 0, 0] + long[..<128] + [0x02, 0, 0, 0, 0, 0, 4, 2, 0, 0, 0, 0, 0, 0, 0, 4]
                + first,
            [Message(9, 40, 1, [7, 8])]),
        Case("a ping on a fresh stream with format 1", [0x42, 0, 0, 0, 0, 0, 2, 4, 0, 3], [Message(4, 0, 0, [0, 3])]),
        Case("a format 3 chunk first, which says nothing", [0xC4] + first, [Message(9, 40, 1, [7, 8])]),
        Case(
            "extended delta", first + [0x84, 0xFF, 0xFF, 0xFF, 0x01, 0, 0, 0, 5, 6],
            [Message(9, 40, 1, [7, 8]), Message(9, 0x0100_0028, 1, [5, 6])]),
    ]

    @Test(arguments: cases)
    func `reads whole`(_ testCase: Case) throws {
        #expect(try messages(in: [testCase.bytes]) == testCase.messages)
    }

    @Test(arguments: cases)
    func `reads byte by byte, and cut at random`(_ testCase: Case) throws {
        #expect(try messages(in: ByteFeeder.pieces(of: testCase.bytes, size: 1)) == testCase.messages)
        for seed in 0..<20 as Range<UInt64> {
            #expect(try messages(in: ByteFeeder.pieces(of: testCase.bytes, seed: seed, upTo: 20)) == testCase.messages)
        }
    }

    @Test(arguments: cases)
    func `reads no more from a prefix than is in it`(_ testCase: Case) throws {
        for count in 0..<testCase.bytes.count {
            let found = try messages(in: [Array(testCase.bytes.prefix(count))])
            #expect(testCase.messages.starts(with: found))
        }
    }

    @Test func `shows a message where it lies when one chunk holds it`() throws {
        var reader = ChunkReader(limits: .publishing)
        try Self.first.withUnsafeBytes { input in
            var offset = 0
            let message = try #require(try reader.next(in: input, at: &offset))
            #expect(message.payload.baseAddress == input.baseAddress?.advanced(by: 12))
        }
    }

    @Test func `puts messages of two connections together in shared buffers, and mixes nothing up`() throws {
        let pool = MessageBufferPool()
        var reader = ChunkReader(limits: .publishing, pool: pool)
        var other = ChunkReader(limits: .publishing, pool: pool)
        let payloads = [3, 7].map { [UInt8](repeating: $0, count: 10_000) }
        let streams = payloads.map { payload in
            var bytes: [UInt8] = []
            for _ in 0..<3 { ChunkWriter().write(type: 9, streamID: 1, chunkStreamID: 6, payload: payload, into: &bytes) }
            return bytes
        }
        var found: [[[UInt8]]] = [[], []]
        var positions = [0, 0]
        // In turn, so that most of the time both have begun a message.
        for end in stride(from: 1_000, through: streams[0].count + 1_000, by: 1_000) {
            for index in 0..<2 {
                let piece = streams[index][positions[index]..<min(end, streams[index].count)]
                try piece.withUnsafeBytes { input in
                    var offset = 0
                    while let message = try index == 0 ? reader.next(in: input, at: &offset) : other.next(in: input, at: &offset)
                    {
                        found[index].append(Array(message.payload))
                    }
                    positions[index] += offset
                }
            }
        }
        #expect(found == payloads.map { Array(repeating: $0, count: 3) })
    }

    @Test func `gives the shared buffers to publishers only`() throws {
        let pool = MessageBufferPool()
        let shared = pool.take()
        [1].withUnsafeBytes { shared.append($0, of: 1_000) }
        let address = shared.bytes.baseAddress
        pool.giveBack(shared)
        for (limits, isShared) in [(ChunkLimits.beforePublish, false), (.publishing, true)] {
            var reader = ChunkReader(limits: limits, pool: pool)
            let bytes = Self.onStreams(2..<3, payload: [UInt8](repeating: 1, count: 200))
            try bytes.withUnsafeBytes { input in
                var offset = 0
                let message = try #require(try reader.next(in: input, at: &offset))
                #expect((message.payload.baseAddress == address) == isShared)
            }
        }
    }

    @Test(
        arguments: [
            (setChunkSize(0), .invalidChunkSize(0)),
            (setChunkSize(0x8000_0000), .invalidChunkSize(0x8000_0000)),
            ([0x02, 0, 0, 0, 0, 0, 3, 1, 0, 0, 0, 0, 1, 2, 3], .malformedControlMessage(type: 1)),
            ([0x04, 0, 0, 0, 0x40, 0, 1, 9, 1, 0, 0, 0], .messageTooLong(0x40_0001)),
            ([0x04, 0, 0, 0, 0x01, 0, 1, 20, 1, 0, 0, 0], .messageTooLong(0x1_0001)),
            ([0x84, 0, 0, 0], .firstChunkWithoutHeader),
            ([0x04, 0, 0, 40, 0, 1, 44, 9, 1, 0, 0, 0] + long[..<128] + header, .headerInsideMessage),
        ] as [([UInt8], RTMPError)])
    func `rejects`(_ bytes: [UInt8], _ error: RTMPError) {
        #expect(throws: error) { try messages(in: [bytes]) }
    }

    private static func onStreams(_ ids: some Sequence<UInt32>, payload: [UInt8] = [1]) -> [UInt8] {
        var bytes: [UInt8] = []
        let writer = ChunkWriter()
        for id in ids { writer.write(type: 4, streamID: 0, chunkStreamID: id, payload: payload, into: &bytes) }
        return bytes
    }

    @Test(arguments: [(.beforePublish, 16), (.publishing, 64)] as [(ChunkLimits, UInt32)])
    func `takes no more chunk streams than allowed`(_ limits: ChunkLimits, _ count: UInt32) throws {
        #expect(try messages(in: [Self.onStreams(2..<(2 + count))], limits: limits).count == Int(count))
        #expect(throws: RTMPError.tooManyChunkStreams) { try messages(in: [Self.onStreams(2...65_599)], limits: limits) }
    }

    @Test func `takes 64 KiB of messages under way before publish, and 4 MiB after`() throws {
        // A first chunk of 128 bytes of each of 40 declared kilobytes.
        let began: (UInt8) -> [UInt8] = { [$0, 0, 0, 0, 0, 0xA0, 0, 20, 0, 0, 0, 0] + [UInt8](repeating: 2, count: 128) }
        #expect(try messages(in: [began(5)], limits: .beforePublish).isEmpty)
        #expect(throws: RTMPError.tooManyPartialBytes) { try messages(in: [began(5) + began(6)], limits: .beforePublish) }
        let media: [UInt8] = [7, 0, 0, 0, 0x3E, 0, 0, 9, 0, 0, 0, 0] + [UInt8](repeating: 2, count: 128)
        #expect(try messages(in: [began(5) + began(6) + media], limits: .publishing).isEmpty)
        let more: [UInt8] = [8, 0, 0, 0, 0x3E, 0, 0, 9, 0, 0, 0, 0] + [UInt8](repeating: 2, count: 128)
        #expect(throws: RTMPError.tooManyPartialBytes) { try messages(in: [media + more], limits: .publishing) }
    }

    @Test(arguments: [0, 7, 8, 9, 15, 16, 18, 19, 22, 255] as [UInt8])
    func `takes no media before publish`(_ type: UInt8) {
        let bytes: [UInt8] = [0x04, 0, 0, 0, 0, 0, 1, type, 1, 0, 0, 0, 5]
        guard type > 6 else { return }
        #expect(throws: RTMPError.messageBeforePublish(type: type)) { try messages(in: [bytes], limits: .beforePublish) }
    }
}
