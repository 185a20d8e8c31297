import Refusals
public import Admission
import DTLS
import EventLoop
import OpenSSL
import SDP
import STUN
public import StageHub
import Wire

/// What all workers' WHIP parts share: configuration, directory, certificate, and the doors from worker to worker.
public final class WHIPPlane: Sendable {
    public let configuration: WHIPConfiguration
    public let directory = SessionDirectory()
    let leases: any PublishLeases
    let reports: (any PublishReports)?
    let metrics: WHIPMetrics
    let mint: UfragMint
    let candidates: [Candidate]
    let takeovers = Lock<TakeoverGuard>(TakeoverGuard())
    private let certificates: CertificateRotation
    private let doors: [WorkerDoor]

    /// - Parameter workerCount: how many `MediaPort`s there will be.
    public init(
        configuration: WHIPConfiguration, workerCount: Int, leases: any PublishLeases, reports: (any PublishReports)? = nil,
        metrics: WHIPMetrics
    ) throws {
        (self.configuration, self.leases, self.reports, self.metrics) = (configuration, leases, reports, metrics)
        let random = Random.bytes(count: 16).map { UInt64($0) }
        mint = UfragMint(
            key: (random[..<8].reduce(0) { $0 << 8 | $1 }, random[8...].reduce(0) { $0 << 8 | $1 }),
            generation: configuration.generation)
        candidates = CandidateList.make(configuration.advertisedAddresses, tcpPort: configuration.tcpPort)
        certificates = try CertificateRotation()
        doors = (0..<workerCount).map { WorkerDoor(index: $0, workerCount: workerCount) }
    }

    /// The DTLS certificate for a session made now.
    func certificate(at now: MonotonicTime) -> DTLSCertificate { certificates.current(at: now) }

    // MARK: - Between workers

    func open(worker: Int, _ sender: MailboxSender<WorkerMessage>) { doors[worker].sender.withLock { $0 = sender } }

    @discardableResult
    func send(_ message: WorkerMessage, to worker: Int) -> Bool {
        guard let sender = doors[worker].sender.withLock({ $0 }) else { return false }
        return sender.send(message)
    }

    func ring(from: Int, to: Int) -> DatagramRing { doors[to].ring(from: from) }

    // MARK: - Ends

    /// Ends a session from any thread: whoever owns it cleans up.
    public func end(_ entry: SessionEntry, _ reason: PublicationEnd) {
        switch entry.markEnded() {
        case .pending: finish(entry, reason)
        case .owned(let worker): send(.end(entry, reason), to: worker)
        case .ended: break
        }
    }

    /// The last step of every session, after its worker has let go of it.
    func finish(_ entry: SessionEntry, _ reason: PublicationEnd) {
        directory.remove(entry)
        let advertised = configuration.advertisedAddresses.map(\.description).joined(separator: ", ")
        let now = EventLoop.wallNow()
        let lease = entry.content.withLock { content in
            content.story.conclude(
                at: now, reason: Self.words(reason), advertised: "UDP " + advertised, within: configuration.pendingLifetime)
            defer { content.lease = nil }
            return content.lease
        }
        SessionLog.ended(entry)
        guard let lease else { return }
        if case .refused(let refusal) = reason { reports?.publishFailed(lease, refusal) }
        if reason != .takenOver { leases.release(lease) }
    }

    private static func words(_ reason: PublicationEnd) -> String {
        switch reason {
        case .unpublished: "The publisher ended the session."
        case .connectionLost: "Nothing came from the publisher any more."
        case .refused(let refusal): refusal.text
        case .takenOver: "Another session of the same participant took over."
        case .shutdown: "The gateway shut down."
        }
    }
}

/// The way into one worker: its mailbox, and a ring from each other worker, made at first use.
final class WorkerDoor: Sendable {
    let sender = Lock<MailboxSender<WorkerMessage>?>(nil)
    private let rings: [Lock<DatagramRing?>]

    init(index: Int, workerCount: Int) { rings = (0..<workerCount).map { _ in Lock(nil) } }

    func ring(from: Int) -> DatagramRing {
        rings[from].withLock { ring in
            if let ring { return ring }
            let made = DatagramRing()
            ring = made
            return made
        }
    }
}

/// The DTLS certificate, renewed daily for new sessions (design note 28); a session keeps the one its answer named.
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
