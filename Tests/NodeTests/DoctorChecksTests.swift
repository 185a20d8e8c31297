import Settings
import Testing

@testable import Node

@Suite
struct DoctorChecksTests {
    @Test
    func `the doctor finds a certificate that cannot be read, and a listener that is off`() {
        var configuration = StagedoorConfiguration()
        for listener in [\StagedoorConfiguration.http.listen, \.https.listen, \.rtmp.listen, \.media.listen, \.admin.listen] {
            configuration[keyPath: listener] = .off
        }
        (configuration.tls.certificate, configuration.tls.privateKey) = ("/nothing/a.pem", "/nothing/a.key")
        let findings = DoctorChecks.all.flatMap { $0(configuration) }
        #expect(findings.contains { $0.level == .failure && $0.text.hasPrefix("tls.certificate: ") })
        #expect(findings.contains { $0.level == .fine && $0.text == "http.listen is off" })
        #expect(Finding.failure("x").mark == "FAIL")
    }
}
