import DTLS
import EventLoop
import Wire

/// The DTLS certificate, renewed daily for new sessions (docs/design.md 7.8); a session keeps the one its answer named.
final class CertificateRotation: Sendable {
    private struct Content {
        var certificate: DTLSCertificate
        var madeAt: MonotonicTime
    }

    private let content: Lock<Content>

    init() throws(DTLSError) {
        content = Lock(Content(certificate: try DTLSCertificate.make(), madeAt: EventLoop.monotonicNow()))
    }

    func current(at now: MonotonicTime) -> DTLSCertificate {
        content.withLock { content in
            if now - content.madeAt >= Self.period, let fresh = try? DTLSCertificate.make() {
                content = Content(certificate: fresh, madeAt: now)
            }
            return content.certificate
        }
    }

    private static let period: Duration = .seconds(86_400)
}
