import RTMP
import TestSupport
import Testing

@Suite("Extended timestamps")
struct ExtendedTimestampTests {
    enum Dialect: CaseIterable { case repeated, leftOut }

    /// 30 messages of 300 bytes, 1 second apart, as chunks of 128: full header first, then deltas.
    private func stream(from start: UInt32, _ dialect: Dialect, everyHeaderFull: Bool) -> (bytes: [UInt8], messages: [Message]) {
        func bigEndian(_ value: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }
        var bytes: [UInt8] = []
        var messages: [Message] = []
        for index in 0..<30 as Range<UInt32> {
            let time = start &+ 1_000 &* index
            let payload = (0..<300).map { UInt8(truncatingIfNeeded: $0 &+ Int(index)) }
            let isFull = everyHeaderFull || index == 0
            let field = isFull ? time : 1_000
            let isExtended = field >= 0xFF_FFFF
            bytes.append(isFull ? 0x04 : 0x44)
            bytes += bigEndian(isExtended ? 0xFF_FFFF : field).dropFirst() + [0, 1, 44, 9] + (isFull ? [1, 0, 0, 0] : [])
            for start in stride(from: 0, to: 300, by: 128) {
                if start > 0 { bytes.append(0xC4) }
                if isExtended, start == 0 || dialect == .repeated { bytes += bigEndian(field) }
                bytes += payload[start..<min(start + 128, 300)]
            }
            messages.append(Message(9, time, 1, payload))
        }
        return (bytes, messages)
    }

    @Test(arguments: [0xFF_FFFF - 15_000, 0xFFFF_FFFF - 15_000] as [UInt32], Dialect.allCases)
    func `passes the borders of 24 and 32 bits`(_ start: UInt32, _ dialect: Dialect) throws {
        for everyHeaderFull in [true, false] {
            let (bytes, expected) = stream(from: start, dialect, everyHeaderFull: everyHeaderFull)
            #expect(try messages(in: [bytes]) == expected)
            #expect(try messages(in: ByteFeeder.pieces(of: bytes, size: 1)) == expected)
            for seed in 0..<10 as Range<UInt64> {
                #expect(try messages(in: ByteFeeder.pieces(of: bytes, seed: seed, upTo: 200)) == expected)
            }
        }
    }

    /// Type 9, 16,777,216 ms, stream 1; a body of `length` bytes follows.
    private func header(length: UInt8) -> [UInt8] { [0x04, 0xFF, 0xFF, 0xFF, 0, 0, length, 9, 1, 0, 0, 0, 1, 0, 0, 0] }

    @Test func `does not wait for four bytes that will not come`() throws {
        let bytes = setChunkSize(4) + header(length: 6) + [9, 8, 7, 6] + [0xC4, 5, 4]
        #expect(try messages(in: [bytes]) == [Message(9, 0x0100_0000, 1, [9, 8, 7, 6, 5, 4])])
    }

    @Test func `takes a new timestamp in a format 3 chunk that begins a message`() throws {
        let repeated = header(length: 1) + [9] + [0xC4, 1, 0, 0, 0, 8]
        #expect(try messages(in: [repeated]).map(\.payload) == [[9], [8]])
        let advanced = header(length: 1) + [9] + [0xC4, 1, 0, 0, 40, 8]
        #expect(try messages(in: [advanced]) == [Message(9, 0x0100_0000, 1, [9]), Message(9, 0x0100_0028, 1, [8])])
        let leftOut = header(length: 4) + [9, 9, 9, 9] + [0xC4, 0xAF, 1, 2, 3]
        #expect(try messages(in: [leftOut]).map(\.payload) == [[9, 9, 9, 9], [0xAF, 1, 2, 3]])
    }
}
