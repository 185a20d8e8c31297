import Testing
import Wire

@testable import OpenSSL

@Suite("AES-256-GCM (NIST SP 800-38D)")
struct AES256GCMTests {
    private static func bytes(_ hex: String) throws -> [UInt8] { try #require([UInt8](hexadecimal: hex)) }

    @Test
    func `test case 16 of the GCM specification`() throws {
        let key = try Self.bytes("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308")
        let plaintext = try Self.bytes(
            """
            d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72\
            1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39
            """)
        let context = try Self.bytes("feedfacedeadbeeffeedfacedeadbeefabaddad2")
        let cipher = try #require(AES256GCM(key: Secret(key)))
        let sealed = cipher.seal(plaintext, context: context, nonce: try Self.bytes("cafebabefacedbaddecaf888"))
        let ciphertext = try Self.bytes(
            """
            522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa\
            8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662\
            76fc6ece0f4e1768cddf8853bb2d551b
            """)
        #expect(Array(sealed.dropFirst(12)) == ciphertext)
        #expect(cipher.open(sealed, context: context) == plaintext)
    }

    @Test(arguments: [0, 1, 16, 1_000])
    func `what is sealed opens, and never looks the same twice`(count: Int) throws {
        let cipher = try #require(AES256GCM(key: Secret(Random.bytes(count: 32))))
        let plaintext = Random.bytes(count: count)
        let (first, second) = (cipher.seal(plaintext, context: [1]), cipher.seal(plaintext, context: [1]))
        #expect(first != second)
        #expect(cipher.open(first, context: [1]) == plaintext)
        #expect(cipher.open(second, context: [2]) == nil)
    }

    @Test
    func `every changed bit, every prefix and another key are refused`() throws {
        let cipher = try #require(AES256GCM(key: Secret(Random.bytes(count: 32))))
        let sealed = cipher.seal(Array("stream key".utf8), context: [])
        for bit in 0..<sealed.count * 8 {
            var changed = sealed
            changed[bit / 8] ^= 1 << (bit % 8)
            #expect(cipher.open(changed, context: []) == nil)
        }
        for length in 0..<sealed.count { #expect(cipher.open(Array(sealed.prefix(length)), context: []) == nil) }
        let other = try #require(AES256GCM(key: Secret(Random.bytes(count: 32))))
        #expect(other.open(sealed, context: []) == nil)
    }

    @Test
    func `a key of another length is none`() {
        #expect(AES256GCM(key: Secret([UInt8](repeating: 0, count: 16))) == nil)
    }
}
