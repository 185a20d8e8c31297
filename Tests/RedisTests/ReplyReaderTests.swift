import TestSupport
import Testing

@testable import Redis

@Suite("Reply reader (RESP2)")
struct ReplyReaderTests {
    static let replies: [(bytes: String, value: RedisValue)] = [
        ("+OK\r\n", .status("OK")),
        ("-ERR unknown command\r\n", .error(RedisRefusal("ERR unknown command"))),
        (":1000\r\n", .integer(1_000)),
        (":-9223372036854775808\r\n", .integer(.min)),
        ("$5\r\nhello\r\n", .string(Array("hello".utf8))),
        ("$2\r\n\r\n\r\n", .string(Array("\r\n".utf8))),
        ("$0\r\n\r\n", .string([])),
        ("$-1\r\n", .null),
        ("*-1\r\n", .null),
        ("*0\r\n", .array([])),
        ("*2\r\n:1\r\n*2\r\n+a\r\n$-1\r\n", .array([.integer(1), .array([.status("a"), .null])])),
        ("*2\r\n*0\r\n-EXECABORT no\r\n", .array([.array([]), .error(RedisRefusal("EXECABORT no"))])),
        // As deep as hiredis goes.
        ("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:7\r\n", (0..<7).reduce(.integer(7)) { value, _ in .array([value]) }),
    ]

    func read(_ pieces: [[UInt8]], limits: RedisLimits = RedisLimits()) throws -> [RedisValue] {
        let reader = ReplyReader(limits: limits)
        var values: [RedisValue] = []
        for piece in pieces {
            piece.withUnsafeBytes { reader.feed($0) }
            while let value = try reader.next() { values.append(value) }
        }
        return values
    }

    @Test(arguments: 0..<replies.count)
    func `every type is read, whole, byte by byte and in every prefix nothing`(of index: Int) throws {
        let (bytes, value) = (Array(Self.replies[index].bytes.utf8), Self.replies[index].value)
        #expect(try read([bytes]) == [value])
        #expect(try read(ByteFeeder.pieces(of: bytes, size: 1)) == [value])
        for count in 0..<bytes.count { #expect(try read([Array(bytes.prefix(count))]).isEmpty) }
    }

    @Test(arguments: 0..<50 as Range<UInt64>)
    func `many answers, cut anywhere, come out in order`(seed: UInt64) throws {
        let bytes = Array(String(repeating: Self.replies.map(\.bytes).joined(), count: 20).utf8)
        let values = Array(repeating: Self.replies.map(\.value), count: 20).flatMap { $0 }
        #expect(try read(ByteFeeder.pieces(of: bytes, seed: seed)) == values)
    }

    @Test(arguments: ["hello\r\n", "*a\r\n", "$x\r\n", "HTTP/1.1 400 Bad Request\r\n", "*1\r\n?\r\n"])
    func `what is no answer is refused`(bytes: String) {
        #expect(throws: RedisProtocolError.self) { try read([Array(bytes.utf8)]) }
    }

    @Test func `arrays deeper than hiredis goes are refused`() {
        #expect(throws: RedisProtocolError.self) { try read([Array(String(repeating: "*1\r\n", count: 9).utf8)]) }
    }

    @Test(arguments: ["*11\r\n", "*6\r\n*5\r\n", "*2147483647\r\n", "*1\r\n*1\r\n*9\r\n"])
    func `arrays that announce more than the limit are refused before their elements come`(bytes: String) {
        var limits = RedisLimits()
        limits.maximumReplyElements = 10
        #expect(throws: RedisProtocolError.tooLong) { try read([Array(bytes.utf8)], limits: limits) }
    }

    @Test(arguments: [("*10\r\n", 10), ("*2\r\n:1\r\n*8\r\n", 8), ("*1\r\n*9\r\n", 9)])
    func `an array of as many as the limit is read, and the next one after it`(start: String, leaves: Int) throws {
        var limits = RedisLimits()
        limits.maximumReplyElements = 10
        let bytes = Array((start + String(repeating: ":1\r\n", count: leaves)).utf8)
        #expect(try read([bytes + bytes], limits: limits).count == 2)
        #expect(try read(ByteFeeder.pieces(of: bytes, size: 1), limits: limits).count == 1)
    }

    @Test func `a string longer than the limit is refused before it is whole, and many short ones are not`() throws {
        var limits = RedisLimits()
        limits.maximumReplyBytes = 100
        let long = Array("$1000\r\n".utf8) + Array(repeating: 120, count: 100)
        #expect(throws: RedisProtocolError.tooLong) { try read(ByteFeeder.pieces(of: long, size: 10), limits: limits) }
        let short = Array(repeating: Array("$5\r\nhello\r\n".utf8), count: 1_000).flatMap { $0 }
        #expect(try read(ByteFeeder.pieces(of: short, size: 64), limits: limits).count == 1_000)
        #expect(try read([short], limits: limits).count == 1_000)
    }
}
