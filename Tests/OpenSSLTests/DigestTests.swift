import OpenSSL
import Testing
import Wire

@Suite("Digests and codes")
struct DigestTests {
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ])
    func `SHA-256 gives the vectors of FIPS 180-4`(text: String, digest: String) {
        #expect(String(hexadecimal: Digest.sha256(Array(text.utf8))) == digest)
    }

    @Test func `SHA-1, SHA-384 and MD5 of abc are as published`() {
        let abc = Array("abc".utf8)
        #expect(String(hexadecimal: Digest.sha1(abc)) == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(
            String(hexadecimal: Digest.sha384(abc))
                == "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7")
        #expect(String(hexadecimal: Digest.md5(abc)) == "900150983cd24fb0d6963f7d28e17f72")
    }

    @Test(arguments: [
        ([UInt8](repeating: 0x0B, count: 20), "Hi There", "b617318655057264e28bc0b6fb378c8ef146be00"),
        (Array("Jefe".utf8), "what do ya want for nothing?", "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"),
    ])
    func `HMAC-SHA-1 gives the vectors of RFC 2202`(key: [UInt8], message: String, code: String) {
        #expect(String(hexadecimal: HMAC.sha1(key: key, Array(message.utf8))) == code)
    }

    @Test func `HMAC-SHA-256 gives a vector of RFC 4231, and takes empty keys and messages`() {
        #expect(
            String(hexadecimal: HMAC.sha256(key: Array("Jefe".utf8), Array("what do ya want for nothing?".utf8)))
                == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
        #expect(
            String(hexadecimal: HMAC.sha256(key: [], [])) == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
    }

    @Test func `random bytes differ and have the length that was asked for`() {
        #expect(Random.bytes(count: 0).isEmpty)
        #expect(Random.bytes(count: 32).count == 32)
        #expect(Random.bytes(count: 32) != Random.bytes(count: 32))
        #expect((0..<8).contains { _ in Random.integer(UInt64.self) >> 56 != 0 })
    }

    @Test(
        arguments: [([], [], true), ([1, 2], [1, 2], true), ([1, 2], [1, 3], false), ([1], [1, 2], false)]
            as [([UInt8], [UInt8], Bool)])
    func `constant-time comparison compares`(left: [UInt8], right: [UInt8], isEqual: Bool) {
        #expect(ConstantTime.isEqual(left, right) == isEqual)
    }
}
