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
