import EventLoop
import GatewayLogging
import GatewayMetrics
import OpenSSL
import Wire

/// How long the certificates in use are still good: a metric, and one warning a day in the last two weeks.
final class CertificateExpiry {
    private let metrics: MetricsRegistry
    private let loop: EventLoop
    private var certificates: [(name: String, certificate: Certificate)] = []
    private var watch: TimerWatch?

    init(loop: EventLoop, metrics: MetricsRegistry) {
        (self.loop, self.metrics) = (loop, metrics)
        watch = loop.schedule(after: .seconds(86_400), repeating: .seconds(86_400)) { [unowned self] in warn() }
    }

    func follow(_ certificates: ServerCertificates) {
        let former = self.certificates
        self.certificates = certificates.certificates
        for (name, _) in former where !self.certificates.contains(where: { $0.name == name }) {
            metrics.remove(Self.metric, ["certificate": name])
        }
        for (name, certificate) in self.certificates {
            metrics.gauge(Self.metric, "End of the certificate in use, in seconds since 1970.", ["certificate": name])
                .set(Double(certificate.notAfter.secondsSince1970))
        }
        warn()
    }

    private func warn() {
        for (name, certificate) in certificates {
            let days = (certificate.notAfter - EventLoop.wallNow()).milliseconds / 86_400_000
            guard days < Self.warningDays else { continue }
            Log.event(
                .warning, "certificate_expires",
                ["certificate": .string(name), "subject": .string(certificate.subject), "days": .integer(Int(days))])
        }
    }

    private static let metric = "stagedoor_tls_cert_expiry_seconds"
    private static let warningDays: Int64 = 14
}
