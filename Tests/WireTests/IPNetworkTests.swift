import Testing
import Wire

@Suite("Networks")
struct IPNetworkTests {
    @Test(arguments: [
        ("10.0.0.0/8", "10.255.1.2", true), ("10.0.0.0/8", "11.0.0.0", false), ("0.0.0.0/0", "203.0.113.9", true),
        ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false), ("::/0", "2001:db8::1", true),
        ("::/0", "1.2.3.4", false),
        ("2001:db8::/32", "2001:db8:ffff::1", true), ("2001:db8::/65", "2001:db8:0:0:8000::", false), ("::1", "::1", true),
        ("10.1.2.3/8", "10.9.9.9", true), ("::ffff:10.0.0.0/8", "10.9.9.9", true),
    ])
    func `contain what shares their prefix`(_ network: String, _ address: String, _ isInside: Bool) throws {
        #expect(try #require(IPNetwork(network)).contains(try #require(IPAddress(address))) == isInside)
    }

    @Test(arguments: ["", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "::/129", "10.0.0.0/8/8", "10.0.0/8", "::/0128"])
    func `refuse`(_ text: String) {
        #expect(IPNetwork(text) == nil)
    }
}

@Suite("Civil time")
struct CivilTimeTests {
    @Test(arguments: [
        (Int64(0), "1970-01-01T00:00:00.000Z", "Thu, 01 Jan 1970 00:00:00 GMT"),
        (784_111_777, "1994-11-06T08:49:37.000Z", "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_827_696, "2000-02-29T12:34:56.000Z", "Tue, 29 Feb 2000 12:34:56 GMT"),
        (1_795_227_276, "2026-11-21T02:14:36.000Z", "Sat, 21 Nov 2026 02:14:36 GMT"),
        (-1, "1969-12-31T23:59:59.000Z", "Wed, 31 Dec 1969 23:59:59 GMT"),
        (4_107_542_399, "2100-02-28T23:59:59.000Z", "Sun, 28 Feb 2100 23:59:59 GMT"),
        (4_107_542_400, "2100-03-01T00:00:00.000Z", "Mon, 01 Mar 2100 00:00:00 GMT"),
    ])
    func `is written as RFC 3339 and RFC 9110 demand`(_ seconds: Int64, _ rfc3339: String, _ httpDate: String) {
        let time = CivilTime(WallTime(secondsSince1970: seconds))
        #expect(time.rfc3339 == rfc3339)
        #expect(time.httpDate == httpDate)
    }
}
