import HTTP
import Settings
import Testing
import Wire

@testable import ControlPlane

@Suite("Host of the admin listener")
struct AdminAccessTests {
    private static func status(_ host: String?, isHealth: Bool) throws -> Int? {
        let bench = try APIBench { $0.admin.hosts = ["gateway.example", "Console.Example", "192.0.2.7", "2001:DB8:0::7"] }
        let headers: HTTPHeaders = host.map { ["Host": $0] } ?? [:]
        let target = try #require(HTTPRequestTarget("/readyz"))
        let request = HTTPRequest(method: .get, target: target, rawTarget: "/readyz", headers: headers, body: [])
        return bench.plane.hostRefusal(of: request, isHealth: isHealth).map { Int($0.status.code) }
    }

    /// What kubelet, Prometheus, balancers and operators send, and what a page does that rebinds its name.
    static let hosts: [(String?, everything: Bool, health: Bool)] = [
        ("localhost", true, true), ("localhost:8088", true, true), ("LOCALHOST:1", true, true), ("127.0.0.1:8088", true, true),
        ("127.9.9.9", true, true), ("[::1]:8088", true, true), ("[::1]", true, true), ("gateway.example", true, true),
        ("gateway.example:8088", true, true), ("192.0.2.7:8088", true, true), ("192.0.2.7", true, true),
        ("console.example:8088", true, true), ("[2001:db8::7]:8088", true, true), ("[2001:DB8:0::7]", true, true),
        ("10.1.2.3:8088", false, true), ("10.1.2.3", false, true), ("[2001:db8::1]:8088", false, true),
        ("[2001:db8::1]", false, true), (nil, false, true), ("evil.example", false, false), ("evil.example:8088", false, false),
        ("127.0.0.1.evil.example", false, false), ("localhost.evil.example:8088", false, false),
        ("10.1.2.3.nip.io", false, false), ("0x7f000001", false, false), ("2130706433:8088", false, false),
    ]

    @Test(arguments: hosts)
    func `health takes any address and no foreign name, everything else our own alone`(
        _ host: String?, everything: Bool, health: Bool
    ) throws {
        #expect(try Self.status(host, isHealth: false) == (everything ? nil : 403))
        #expect(try Self.status(host, isHealth: true) == (health ? nil : 403))
    }
}
