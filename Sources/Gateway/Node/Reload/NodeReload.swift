import EventLoop
import GatewayConfiguration
import GatewayLogging
import GatewayMetrics
import OpenSSL
import Settings

/// Takes up a changed file while running: all of it is read and checked before anything is changed. On the control loop.
final class NodeReload {
    /// What is to be put into force.
    struct Change {
        var configuration: StagedoorConfiguration
        /// Nil where no certificate has changed.
        var tls: TLSContext?
    }

    private let source: ConfigurationSource
    private var running: StagedoorConfiguration
    private var certificates: ServerCertificates
    private let expiry: CertificateExpiry
    private let apply: (Change) -> Void
    private var files: FileChanges?

    init(
        loop: EventLoop, source: ConfigurationSource, running: StagedoorConfiguration, certificates: ServerCertificates,
        metrics: MetricsRegistry, apply: @escaping (Change) -> Void
    ) {
        (self.source, self.running, self.certificates, self.apply) = (source, running, certificates, apply)
        expiry = CertificateExpiry(loop: loop, metrics: metrics)
        expiry.follow(certificates)
        files = FileChanges(loop: loop, paths: watchedPaths) { [unowned self] in reload(because: "a file has changed") }
    }

    private var watchedPaths: [String] { (source.path.map { [$0] } ?? []) + ServerCertificates.paths(running) }

    /// Reads configuration and certificates anew. One fault, and everything stays as it is.
    func reload(because reason: String) {
        do {
            let new = try source.read()
            let changes = ConfigurationChanges(from: running, to: new)
            let applied = new.applied(to: running)
            let fresh = try certificates.reloaded(applied)
            let isSame = fresh.isSame(as: certificates) && applied.tls == running.tls
            let tls = try isSame ? nil : fresh.makeContext(applied.tls)
            apply(Change(configuration: applied, tls: tls))
            (running, certificates) = (applied, fresh)
            if tls != nil { expiry.follow(fresh) }
            files?.paths = watchedPaths
            report(changes, reason, hasNewCertificates: tls != nil)
        } catch let error as ConfigurationError {
            refuse(reason, error.problems.map(\.description))
        } catch {
            refuse(reason, ["\(error)"])
        }
    }

    private func report(_ changes: ConfigurationChanges, _ reason: String, hasNewCertificates: Bool) {
        Log.event(
            changes.restart.isEmpty ? .info : .warning, "reloaded",
            [
                "because": .string(reason), "applied": .strings(changes.live), "need_restart": .strings(changes.restart),
                "certificates": .bool(hasNewCertificates),
            ])
    }

    private func refuse(_ reason: String, _ problems: [String]) {
        Log.event(.error, "reload_refused", ["because": .string(reason), "problems": .strings(problems)])
    }
}
