import Settings
import Testing
import Wire

@Suite
struct AdminSettingsTests {
    static let listeners: [(IPAddress, AdminSettings.Authentication, Bool)] = [
        (.loopback, .sigv4, true), (.loopback, .none, false), (.anyV4, .sigv4, true), (.anyV4, .none, true),
    ]

    @Test(arguments: listeners)
    func `only on loopback nobody has to sign, where the operator says so`(
        _ address: IPAddress, _ auth: AdminSettings.Authentication, _ demandsSignature: Bool
    ) {
        var settings = AdminSettings()
        (settings.listen, settings.auth) = (ListenAddress(SocketAddress(address, port: 8088)), auth)
        #expect(settings.demandsSignature == demandsSignature)
    }

    @Test func `a listener that is off needs no signature`() {
        var settings = AdminSettings()
        (settings.listen, settings.auth) = (.off, .none)
        #expect(!settings.demandsSignature)
    }
}
