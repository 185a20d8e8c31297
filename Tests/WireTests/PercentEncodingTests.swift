import Testing
import Wire

@Suite("Percent-encoding (RFC 3986 §2.1)")
struct PercentEncodingTests {
    @Test(arguments: [
        ("", ""), ("aZ09-._~", "aZ09-._~"), ("a b/ü~+", "a%20b%2F%C3%BC~%2B"), ("%", "%25"), ("\u{0}\u{7F}", "%00%7F"),
        ("arn:aws:ivs:r:1:stage/a", "arn%3Aaws%3Aivs%3Ar%3A1%3Astage%2Fa"),
    ])
    func `both ways`(_ text: String, _ encoded: String) {
        #expect(PercentEncoding.encode(text) == encoded)
        #expect(PercentEncoding.decode(encoded) == text)
        #expect(PercentEncoding.decode(encoded.lowercased())?.lowercased() == text.lowercased())
        #expect(PercentEncoding.isWellFormed(encoded))
    }

    @Test func `slashes of paths may stay`() {
        #expect(PercentEncoding.encode("/a b/", keepingSlashes: true) == "/a%20b/")
    }

    @Test func `a plus is a space where forms are read`() {
        #expect(PercentEncoding.decode("a+b%2b") == "a+b+")
        #expect(PercentEncoding.decode("a+b%2b", plusIsSpace: true) == "a b+")
    }

    @Test(arguments: ["%", "%1", "a%", "%g0", "%0g", "%%20", "%+1"])
    func `refuses what is no escape`(_ text: String) {
        #expect(PercentEncoding.decode(text) == nil)
        #expect(!PercentEncoding.isWellFormed(text))
    }

    @Test(arguments: ["%ff", "%C3", "%ED%A0%80"])
    func `refuses what is not UTF-8`(_ text: String) {
        #expect(PercentEncoding.decode(text) == nil)
        #expect(PercentEncoding.isWellFormed(text))
    }
}
