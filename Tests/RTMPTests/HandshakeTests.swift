import Testing
import Wire

@testable import RTMP

@Suite("Handshake")
struct HandshakeTests {
    private func answer(to bytes: [UInt8]) throws -> [UInt8] {
        var session = RTMPServerSession(crypto: .fake)
        var offset = 0
        try bytes.withUnsafeBytes { input in
            while try session.nextEvent(in: input, at: &offset) != nil {}
        }
        return session.takeOutput()
    }

    /// A C1 with the digest of `schema`.
    private func digestC1(_ schema: HandshakeDigest.Schema) -> [UInt8] {
        var c1: [UInt8] = [0, 0, 0, 9, 9, 0, 124, 2] + (8..<1_536).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let base = schema.rawValue
        let start = base + 4 + c1[base..<base + 4].reduce(0) { $0 + Int($1) } % 728
        let rest = Array(c1[..<start]) + c1[(start + 32)...]
        let key = Array("Genuine Adobe Flash Player 001".utf8)
        c1.replaceSubrange(start..<start + 32, with: HandshakeCrypto.fake.hmacSHA256(key, rest))
        return c1
    }

    @Test func `echoes a simple C1 byte for byte`() throws {
        let hello = Array(EncoderBytes.simpleHandshake.prefix(1_537))
        let answer = try answer(to: hello)
        #expect(answer.count == 3_073)
        #expect(answer[0] == 3)
        #expect(answer[1_537...] == hello[1...])
    }

    @Test func `echoes a C1 whose digest is wrong`() throws {
        var c1 = digestC1(.digestFirst)
        c1[1_535] ^= 1
        c1[20] ^= 1
        #expect(try answer(to: [3] + c1)[1_537...] == c1[...])
    }

    @Test(arguments: HandshakeDigest.Schema.allCases)
    func `answers a digest with digests`(_ schema: HandshakeDigest.Schema) throws {
        let c1 = digestC1(schema)
        let digest = HandshakeDigest(crypto: .fake)
        let found = try #require(digest.find(inC1: c1))
        #expect(found.schema == schema)

        let answer = try answer(to: [3] + c1)
        let s1 = Array(answer[1..<1_537])
        #expect(s1[4] >= 3)
        var signed = s1
        digest.sign(s1: &signed, schema)
        #expect(signed == s1)
        #expect(Array(answer[1_537...]) == digest.makeS2(c1Digest: found.digest))
    }

    @Test(
        arguments: [
            (6, .unsupportedVersion(6)), (8, .unsupportedVersion(8)), (0x16, .unsupportedVersion(0x16)),
            (UInt8(ascii: "G"), .httpRequest), (UInt8(ascii: "P"), .httpRequest), (0, .unsupportedVersion(0)),
        ] as [(UInt8, RTMPError)])
    func `refuses a first byte at once`(_ byte: UInt8, _ error: RTMPError) {
        #expect(throws: error) { try answer(to: [byte]) }
    }

    @Test func `waits for the whole of C1`() throws {
        for count in [1, 2, 1_536] { #expect(try answer(to: Array(EncoderBytes.simpleHandshake.prefix(count))).isEmpty) }
    }
}
