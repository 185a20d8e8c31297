import EventLoop
import GatewayConfiguration
import GatewayLogging
import GatewayMetrics
import OpenSSL
import Settings
import Wire

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
    /// Is about what is on disk: what is in force stays sound.
    private let refused: Gauge
    private let apply: (Change) -> Void
    private var files: FileChanges?
    /// Why the last one was refused, which is told once; empty where it was not.
    private var problems: [String] = []
    private var timer: TimerWatch?

    /// - Parameter interval: how often to look at what no change of a file tells: our own certificate,
    ///   and a reload that was refused.
    init(
        loop: EventLoop, source: ConfigurationSource, running: StagedoorConfiguration, certificates: ServerCertificates,
        metrics: MetricsRegistry, interval: Duration = .seconds(60), apply: @escaping (Change) -> Void
    ) {
        (self.source, self.running, self.certificates, self.apply) = (source, running, certificates, apply)
        expiry = CertificateExpiry(loop: loop, metrics: metrics)
        refused = metrics.gauge(
            "stagedoor_reload_refused", "1 while the configuration file, or a certificate's, is not taken as it stands.")
        expiry.follow(certificates)
        files = FileChanges(loop: loop, paths: paths(of: running)) { [unowned self] in reload(because: "a file has changed") }
        timer = loop.schedule(after: interval, repeating: interval, tolerance: .seconds(1)) { [unowned self] in
            // Not by one timer of many days: the clock may have been set since the start.
            renew(at: EventLoop.wallNow())
            // A file that could not be read may be readable without having changed: its owner has, or there was no descriptor.
            // One that has changed is read when it holds still.
            if !problems.isEmpty, files?.areUnchanged == true { reload(because: Self.again) }
        }
    }

    /// Puts another certificate of our own into force where the one in use ends soon, whatever the file says by now.
    func renew(at now: WallTime) {
        guard certificates.isDueForRenewal(at: now) else { return }
        do {
            let fresh = try certificates.renewed(host: running.advertise.publicName, now: now)
            apply(Change(configuration: running, tls: try fresh.makeContext(running.tls)))
            certificates = fresh
            expiry.follow(fresh)
            Log.event(.info, "certificate_renewed", ["certificate": "tls"])
        } catch {
            Log.event(.error, "certificate_not_renewed", ["certificate": "tls", "because": .string("\(error)")])
        }
    }

    /// The files that it is made of.
    private func paths(of configuration: StagedoorConfiguration) -> [String] {
        (source.path.map { [$0] } ?? []) + ServerCertificates.paths(configuration)
    }

    /// Reads configuration and certificates anew. One fault, and everything stays as it is.
    func reload(because reason: String) {
        files?.remember()
        do {
            let new = try source.read()
            // Also of one that is refused: a certificate that it names may come after it.
            files?.paths = paths(of: new)
            let changes = ConfigurationChanges(from: running, to: new)
            let applied = new.applied(to: running)
            let fresh = try certificates.reloaded(applied)
            // Made in any case: what cannot be put into force is told before anything is.
            let context = try fresh.makeContext(applied.tls)
            let tls = fresh.isSame(as: certificates) && applied.tls == running.tls ? nil : context
            apply(Change(configuration: applied, tls: tls))
            (running, certificates, problems) = (applied, fresh, [])
            refused.set(0)
            if tls != nil { expiry.follow(fresh) }
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
        if reason != Self.again || problems != self.problems {
            Log.event(.error, "reload_refused", ["because": .string(reason), "problems": .strings(problems)])
        }
        self.problems = problems
        refused.set(1)
    }

    private static let again = "the last one was refused"
}
