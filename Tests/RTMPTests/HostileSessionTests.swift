import AMF0
import TestSupport
import Testing

@testable import RTMP

@Suite("Hostile peers")
struct HostileSessionTests {
    private func failure(of bytes: [UInt8]) -> Happening? {
        let driver = SessionDriver()
        driver.feed(bytes)
        return driver.happenings.last
    }

    @Test func `stops at 50,000 nested objects in connect`() {
        var encoder = EncoderBytes()
        var body = [AMF0Value.string("connect"), 1.0].amf0Bytes
        while body.count < 65_000 { body += [0x03, 0, 1, 0x61] }
        encoder.message(type: 20, streamID: 0, chunkStreamID: 3, body)
        #expect(failure(of: encoder.bytes) == .failed(.malformedCommand(.tooDeep)))
        encoder = EncoderBytes()
        encoder.message(type: 20, streamID: 0, chunkStreamID: 3, body + body + body + body)
        #expect(failure(of: encoder.bytes) == .failed(.messageTooLong(UInt32(body.count * 4))))
    }

    @Test func `stops at a declared message of 16 MB`() {
        let declared: [UInt8] = [4, 0, 0, 0, 0xFF, 0xFF, 0xFF, 9, 1, 0, 0, 0]
        #expect(failure(of: EncoderBytes.published().bytes + declared) == .failed(.messageTooLong(0xFF_FFFF)))
    }

    @Test func `stops at media before publish, and at commands before connect`() {
        var encoder = EncoderBytes()
        encoder.connect()
        encoder.message(type: 9, [0x17])
        #expect(failure(of: encoder.bytes) == .failed(.messageBeforePublish(type: 9)))
        encoder = EncoderBytes()
        encoder.publish()
        #expect(failure(of: encoder.bytes) == .failed(.commandBeforeConnect))
    }

    @Test func `stops at a window of 0 and at short control messages`() {
        let window: [UInt8] = [2, 0, 0, 0, 0, 0, 4, 5, 0, 0, 0, 0, 0, 0, 0, 0]
        #expect(failure(of: EncoderBytes().bytes + window) == .failed(.invalidWindow))
        let short: [UInt8] = [2, 0, 0, 0, 0, 0, 1, 4, 0, 0, 0, 0, 0]
        #expect(failure(of: EncoderBytes().bytes + short) == .failed(.malformedControlMessage(type: 4)))
    }

    @Test func `answers a hundred createStream with sixteen streams and errors`() throws {
        var encoder = EncoderBytes()
        encoder.connect()
        for id in 2...101 { encoder.command(RTMPCommand(name: "createStream", transactionID: Double(id))) }
        let driver = SessionDriver()
        driver.feed(encoder.bytes)
        let names = try driver.answers.dropFirst().map(\.name)
        #expect(names.filter { $0 == "_result" }.count == 16)
        #expect(names.filter { $0 == "_error" }.count == 84)
    }

    @Test func `answers what it does not know, a second connect and a second publish`() throws {
        var encoder = EncoderBytes.published()
        encoder.command(RTMPCommand(name: "dance", transactionID: 9))
        encoder.command(RTMPCommand(name: "silent"))
        encoder.connect()
        encoder.publish("OTHER")
        encoder.command(RTMPCommand(name: "play", transactionID: 0, arguments: ["KEY"]), streamID: 1)
        let driver = SessionDriver()
        driver.feed(encoder.bytes)
        #expect(
            try driver.answerNames.suffix(5) == [
                "_error NetConnection.Call.Failed", "_error NetConnection.Call.Failed", "_result",
                "onStatus NetStream.Publish.BadName", "onStatus NetStream.Play.Failed",
            ])
    }

    @Test(arguments: 0..<200 as Range<UInt64>)
    func `survives noise behind the handshake`(_ seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        let noise = (0..<4_000).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        for head in [EncoderBytes().bytes, EncoderBytes.published().bytes] {
            let driver = SessionDriver()
            for piece in ByteFeeder.pieces(of: head + noise, seed: seed) { driver.feed(piece) }
        }
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `survives a session with bytes changed`(_ seed: UInt64) {
        var encoder = EncoderBytes.published()
        for index in 0..<20 as Range<UInt32> { encoder.message(type: 9, timestamp: index, [UInt8](repeating: 0x27, count: 300)) }
        var bytes = encoder.bytes
        var generator = SplitMix64(seed: seed)
        for _ in 0..<10 {
            bytes[Int.random(in: 3_073..<bytes.count, using: &generator)] = UInt8.random(in: .min ... .max, using: &generator)
        }
        let driver = SessionDriver()
        for piece in ByteFeeder.pieces(of: bytes, seed: seed) { driver.feed(piece) }
    }
}
