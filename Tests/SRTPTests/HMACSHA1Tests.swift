import Testing

@testable import SRTP

@Suite("HMAC-SHA-1 (RFC 2104)")
struct HMACSHA1Tests {
    /// RFC 2202 §3, cases 1 to 5.
    static let vectors: [(key: [UInt8], message: [UInt8], tag: String)] = [
        (Array(repeating: 0x0B, count: 20), Array("Hi There".utf8), "b617318655057264e28bc0b6fb378c8ef146be00"),
        (Array("Jefe".utf8), Array("what do ya want for nothing?".utf8), "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
        (
            Array(repeating: 0xAA, count: 20), Array(repeating: 0xDD, count: 50), "125d7342b9ac11cd91a39af48aa17b4f63f175d3"
        ),
        (Array(1...25), Array(repeating: 0xCD, count: 50), "4c9007f4026250c6bc8414f9bf50c86c2d7235da"),
        (Array(repeating: 0x0C, count: 20), Array("Test With Truncation".utf8), "4c1a03424b55e07fe7f27be1"),
    ]

    @Test(arguments: vectors.indices)
    func `computes the reference tags, again and again, of messages whole or in parts`(_ index: Int) {
        let (key, message, expected) = Self.vectors[index]
        var authentication = HMACSHA1()
        key.withUnsafeBytes { authentication.setKey($0) }
        for cut in [0, 1, message.count] {
            authentication.start()
            authentication.add(message, count: cut)
            authentication.add(Array(message[cut...]) + [0], count: message.count - cut)
            var tag = [UInt8](repeating: 0, count: expected.count / 2)
            authentication.finish(&tag, count: tag.count)
            #expect(tag == bytes(expected))
        }
    }
}
