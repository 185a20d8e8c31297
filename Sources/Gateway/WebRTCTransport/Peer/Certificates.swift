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

/// The DTLS settings of the certificates in use, for one worker: today's, yesterday's, and one in between a restart of the clock.
final class DTLSContexts {
    private var contexts: [(certificate: DTLSCertificate, context: DTLSContext)] = []

    func context(for certificate: DTLSCertificate) throws(DTLSError) -> DTLSContext {
        if let known = contexts.first(where: { $0.certificate == certificate }) { return known.context }
        let context = try DTLSContext(certificate)
        contexts.append((certificate, context))
        if contexts.count > Self.maximumCount { contexts.removeFirst() }
        return context
    }

    private static let maximumCount = 3
}
