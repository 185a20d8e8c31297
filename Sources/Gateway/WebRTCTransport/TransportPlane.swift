import DTLS
import EventLoop
import OpenSSL
public import Refusals
public import SDP
import STUN
public import Wire

/// What the media ports of all workers share: configuration, directory, certificate, and the doors from worker to worker.
public final class TransportPlane: Sendable {
    public let configuration: TransportConfiguration
    /// Of every answer.
    public let candidates: [Candidate]
    let metrics: TransportMetrics
    let directory = TransportDirectory()
    let mint: UfragMint
    private let certificates: CertificateRotation
    private let doors: [WorkerDoor]

    /// - Parameter workerCount: how many `MediaPort`s there will be.
    public init(configuration: TransportConfiguration, workerCount: Int, metrics: TransportMetrics) throws {
        (self.configuration, self.metrics) = (configuration, metrics)
        let random = Random.bytes(count: 16).map { UInt64($0) }
        mint = UfragMint(
            key: (random[..<8].reduce(0) { $0 << 8 | $1 }, random[8...].reduce(0) { $0 << 8 | $1 }),
            generation: configuration.generation)
        candidates = CandidateList.make(configuration.advertisedAddresses, tcpPort: configuration.tcpPort)
        certificates = try CertificateRotation()
        doors = (0..<workerCount).map { WorkerDoor(index: $0, workerCount: workerCount) }
    }

    /// The transport of a new session, with credentials of its own. `add` it before its 201 is written.
    public func makeState(for peer: PeerDescription, token: Secret, now: MonotonicTime) -> TransportState {
        TransportState(
            id: SessionIdentifier.make(
                node: configuration.node, generation: configuration.generation, for: token, key: configuration.sessionKey),
            peer: peer,
            certificate: certificates.current(at: now), tokenHash: Digest.sha256(token.reveal()),
            credentials: ICECredentials.make(mint), now: now)
    }

    /// Makes a session findable by its ufrag.
    public func add(_ entry: any TransportEntry) {
        for credentials in entry.transport.credentials { directory.add(credentials, for: entry) }
    }

    /// An ended session is found no longer; its purpose calls this when it finishes.
    public func remove(_ entry: any TransportEntry) { directory.remove(entry.transport.credentials) }

    // MARK: - Between workers

    /// Ends a session from any thread: whoever owns it cleans up.
    public func end(_ entry: any TransportEntry, _ reason: SessionEnd) {
        switch entry.transport.markEnded() {
        case .pending: entry.conclude(reason)
        case .owned(let worker): send(.end(entry, reason), to: worker)
        case .ended: break
        }
    }

    /// Runs `body` on a worker's loop with the session of `entry`, or with nil when that has ended.
    public func perform(
        with entry: any TransportEntry, on worker: Int, _ body: @escaping @Sendable ((any TransportSession)?) -> Void
    ) {
        send(.perform(entry, body), to: worker)
    }

    func open(worker: Int, _ sender: MailboxSender<TransportMessage>) { doors[worker].sender.withLock { $0 = sender } }

    @discardableResult
    func send(_ message: TransportMessage, to worker: Int) -> Bool {
        guard let sender = doors[worker].sender.withLock({ $0 }) else { return false }
        return sender.send(message)
    }

    /// The kernel decides to which worker a peer's datagrams come.
    func sendToAll(_ message: TransportMessage) { for worker in doors.indices { send(message, to: worker) } }

    func ring(from: Int, to: Int) -> DatagramRing { doors[to].ring(from: from) }
}
