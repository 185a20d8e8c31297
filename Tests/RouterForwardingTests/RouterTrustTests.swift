import Settings
import Testing
import Wire

@testable import RouterForwarding

@Suite("Trust in routers")
struct RouterTrustTests {
    static let trust = RouterTrust(
        networks: [IPNetwork("10.1.0.0/16")!, IPNetwork("127.0.0.1")!, IPNetwork("fd00::/8")!, IPNetwork("224.0.0.0/4")!],
        ownListeners: [SocketAddress("127.0.0.1:3478")!, SocketAddress("[::]:8080")!])

    @Test(arguments: [
        ("10.1.2.3:5000", true), ("10.2.0.1:5000", false), ("127.0.0.1:5000", true), ("127.0.0.1:3478", false),
        ("127.0.0.1:8080", false), ("10.1.2.3:0", false), ("224.0.0.1:5000", false), ("[fd00::1]:5000", true),
        ("[2001:db8::1]:5000", false), ("169.254.1.1:5000", false), ("0.0.0.0:5000", false),
    ])
    func `admits only the router's networks`(_ address: String, _ isAdmitted: Bool) {
        #expect(Self.trust.admits(SocketAddress(address)!) == isAdmitted)
    }

    @Test func `admits the address that answers where the configuration names no networks`() {
        let (answerer, named) = (IPAddress("192.0.2.7")!, SocketAddress("192.0.2.7:5000")!)
        #expect(!Self.trust.extended(by: answerer).admits(named))
        var trust = Self.trust
        trust.includesAnswerer = true
        #expect(trust.extended(by: answerer).admits(named))
        #expect(!trust.extended(by: answerer).admits(SocketAddress("192.0.2.8:5000")!))
        #expect(!trust.extended(by: nil).admits(named))
    }

    @Test(arguments: [
        ("/v1/participants/p", "https://router.example:443/v1/participants/p"),
        ("https://router.example/x", "https://router.example/x"),
        ("https://ROUTER.example:443/x", "https://ROUTER.example:443/x"),
        ("http://router.example/x", nil), ("https://router.example:444/x", nil), ("https://other.example/x", nil),
        ("//other.example/x", nil), ("participants/p", nil), ("https://router.example@other.example/x", nil),
        ("/x\r\nHost: other", nil), ("", nil),
    ])
    func `Location stays at its origin`(_ location: String, _ resolved: String?) {
        #expect(HTTPOrigin.resolve(location, from: "https://router.example/v1/participants") == resolved)
    }

    /// The configuration takes `srtp` for these alone: none of them goes without keys.
    @Test(arguments: [
        ("https://router.example/janus", true), ("https://user:password@router.example/janus", true),
        ("http://127.0.0.1:8088/janus", true), ("http://[::1]:8088/janus", true), ("http://localhost/janus", true),
        ("http://10.0.0.1:8088/janus", false), ("http://127.0.0.1@10.0.0.1/janus", false), ("https:/router.example", false),
        ("http://localhost:x@router.example/janus", false), ("http://localhost.example/janus", false),
    ])
    func `keys travel by https and to this machine alone`(_ url: String, _ isPrivate: Bool) {
        #expect(RouterSettings.isPrivate(url) == isPrivate)
    }

    @Test(arguments: [
        ("http://10.0.0.1:8080/v1/participants/p", "https://router.example:443/v1/participants/p"),
        ("http://10.0.0.1", nil), ("http://10.0.0.1//other.example/x", nil), ("ftp://10.0.0.1/x", nil), ("participants/p", nil),
        ("http://10.0.0.1/x y", nil),
    ])
    func `the path of a Location of another origin is one of the router itself`(_ location: String, _ place: String?) {
        #expect(HTTPOrigin.path(of: location, at: "https://router.example/v1/participants") == place)
    }
}
