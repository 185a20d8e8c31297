import Testing
import Wire

@Suite("Base64 (RFC 4648 §4 and §5)")
struct Base64Tests {
    /// RFC 4648 §10 and RFC 7515 appendix C: bytes, with padding, and for URLs.
    static let cases: [([UInt8], String, String)] = [
        ([], "", ""), ([3, 236, 255, 224, 193], "A+z/4ME=", "A-z_4ME"), (Array("f".utf8), "Zg==", "Zg"),
        (Array("fo".utf8), "Zm8=", "Zm8"), (Array("foo".utf8), "Zm9v", "Zm9v"), (Array("foob".utf8), "Zm9vYg==", "Zm9vYg"),
        (Array("fooba".utf8), "Zm9vYmE=", "Zm9vYmE"), (Array("foobar".utf8), "Zm9vYmFy", "Zm9vYmFy"),
        ([0xFF, 0xFF, 0xFF], "////", "____"),
    ]

    @Test(arguments: cases)
    func `reads and writes`(_ bytes: [UInt8], _ standard: String, _ url: String) {
        #expect(Base64.standard.text(of: bytes) == standard)
        #expect(Base64.standard.decode(standard.utf8) == bytes)
        #expect(Base64.url.encode(bytes) == Array(url.utf8))
        #expect(Base64.url.decode(url.utf8) == bytes)
    }

    @Test(arguments: [
        "Z", "Zg", "Zg=", "Zg===", "Zm8", "Zh==", "Zm9=", "Zg==Zg==", "Z===", "====", "=", "Zm8*", "Zm9v\n", " Zg==", "Zm-v",
        "Zm_v", "Zm9v====", "Zm9vé",
    ])
    func `standard refuses every other form`(_ text: String) { #expect(Base64.standard.decode(text.utf8) == nil) }

    @Test(arguments: ["Zg==", "Z", "Zh", "Zm9v\n", "Zm+v", "Zm/v", " Zg", "Zm9vY", "Zm9v=", "="])
    func `url refuses every other form`(_ text: String) { #expect(Base64.url.decode(text.utf8) == nil) }

    @Test(arguments: [Base64.standard, .url], 0..<50)
    func `reads back what it wrote`(_ form: Base64, _ count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 89 + count) }
        #expect(form.decode(form.encode(bytes)) == bytes)
    }
}
