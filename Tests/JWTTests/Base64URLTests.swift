import Testing

@testable import JWT

@Suite("base64url (RFC 7515 §2 and appendix C)")
struct Base64URLTests {
    static let cases: [([UInt8], String)] = [
        ([], ""), ([3, 236, 255, 224, 193], "A-z_4ME"), (Array("f".utf8), "Zg"), (Array("fo".utf8), "Zm8"),
        (Array("foo".utf8), "Zm9v"), (Array("foobar".utf8), "Zm9vYmFy"),
    ]

    @Test(arguments: cases)
    func `reads and writes`(_ bytes: [UInt8], _ text: String) {
        #expect(Base64URL.decode(Array(text.utf8)) == bytes)
        #expect(Base64URL.encode(bytes) == Array(text.utf8))
    }

    @Test(arguments: ["Zg==", "Z", "Zh", "Zm9v\n", "Zm+v", "Zm/v", " Zg", "Zm9vY"])
    func `refuses every other form`(_ text: String) { #expect(Base64URL.decode(Array(text.utf8)) == nil) }
}
