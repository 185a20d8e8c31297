import Foundation
import OpenSSL
import Testing

@testable import RTMP

/// The digest handshake with real HMACs, against what ffmpeg sends.
@Suite("Digest handshake of ffmpeg")
struct HandshakeDigestTests {
    @Test func `finds the digest in ffmpeg's C1 and answers with valid ones`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fixtures/rtmp")
        let c0c1 = try Array(Data(contentsOf: folder.appending(path: "c0c1-ffmpeg-5.1.bin")))
        let crypto = HandshakeCrypto(
            hmacSHA256: { HMAC.sha256(key: $0, $1) }, randomBytes: Random.bytes(count: HandshakeCrypto.randomByteCount))
        let digest = HandshakeDigest(crypto: crypto)
        let found = try #require(digest.find(inC1: Array(c0c1[1...])))
        #expect(found.schema == .digestFirst)

        let answer = RTMPHandshake.answer(c1: Array(c0c1[1...]), crypto)
        #expect(answer.count == 3_073)
        var signed = Array(answer[1..<1_537])
        digest.sign(s1: &signed, found.schema)
        #expect(signed == Array(answer[1..<1_537]))
    }
}
