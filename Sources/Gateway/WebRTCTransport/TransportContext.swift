public import DTLS
import EventLoop
import OpenSSL
public import Refusals
public import SDP
import STUN
public import Sockets
public import Wire

/// What the media ports of all workers share: configuration, directory, certificate, and the inboxes from worker to worker.
public final class TransportContext: Sendable {
    public let configuration: TransportConfiguration
    private let advertised: Lock<Advertised>
    let metrics: TransportMetrics
    /// Counts ICE-TCP connections that have shown no check yet.
    let strangers: ConnectionAdmission
    let directory = TransportDirectory()
    let mint: UfragMint
    private let certificates: CertificateRotation
    private let inboxes: [WorkerInbox]

    /// Where clients are told to come.
    private struct Advertised {
        let addresses: [SocketAddress]
        let tcp: [SocketAddress]
        let candidates: [Candidate]

        init(_ addresses: [SocketAddress], tcp: [SocketAddress]) {
            (self.addresses, self.tcp, candidates) = (addresses, tcp, CandidateList.make(addresses, tcp: tcp))
        }

        /// Name servers turn the order of a name's addresses with every answer.
        func isSame(as other: Advertised) -> Bool {
            Set(addresses) == Set(other.addresses) && Set(tcp) == Set(other.tcp)
        }
    }

    /// - Parameters:
    ///   - workerCount: how many `MediaPort`s there will be.
    ///   - strangers: bounds the ICE-TCP connections that have shown no check yet.
    public init(
        configuration: TransportConfiguration, workerCount: Int, metrics: TransportMetrics,
        strangers: ConnectionAdmission = ConnectionAdmission(maximumCount: 2_000, maximumPerAddress: 64)
    ) throws(DTLSError) {
        (self.configuration, self.metrics, self.strangers) = (configuration, metrics, strangers)
        let random = Random.bytes(count: 16).map { UInt64($0) }
        mint = UfragMint(
            key: (random[..<8].reduce(0) { $0 << 8 | $1 }, random[8...].reduce(0) { $0 << 8 | $1 }),
            generation: configuration.generation)
        advertised = Lock(Advertised(configuration.advertisedAddresses, tcp: configuration.tcpAddresses))
        certificates = try CertificateRotation()
        inboxes = (0..<workerCount).map { _ in WorkerInbox(workerCount: workerCount) }
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

    // MARK: - Addresses

    /// Of every answer.
    public var candidates: [Candidate] { advertised.withLock { $0.candidates } }
    /// The media port's, as clients reach it.
    public var advertisedAddresses: [SocketAddress] { advertised.withLock { $0.addresses } }

    /// Tells clients other addresses from now on; who has been told keeps those that it has.
    /// - Returns: whether they are others, in whatever order.
    public func advertise(_ addresses: [SocketAddress], tcp: [SocketAddress]) -> Bool {
        let new = Advertised(addresses, tcp: tcp)
        return advertised.withLock { known in
            guard !known.isSame(as: new) else { return false }
            known = new
            return true
        }
    }

    // MARK: - Between workers

    /// Ends a session from any thread: whoever owns it cleans up.
    public func end(_ entry: any TransportEntry, _ reason: SessionEnd) {
        switch entry.transport.markEnded() {
        case .pending: entry.finishOnce(reason)
        case .owned(let worker): if !send(.end(entry, reason), to: worker) { entry.transport.leave(reason) }
        case .ended: break
        }
    }

    /// Runs `body` on a worker's loop with the session of `entry`, or with nil when that has ended.
    /// - Returns: false when the worker is gone, or too much waits for it: then `body` is not run.
    public func perform(
        with entry: any TransportEntry, on worker: Int, _ body: @escaping @Sendable ((any TransportSession)?) -> Void
    ) -> Bool {
        send(.perform(entry, body), to: worker)
    }

    func open(worker: Int, _ sender: MailboxSender<TransportMessage>) { inboxes[worker].sender.withLock { $0 = sender } }

    @discardableResult
    func send(_ message: TransportMessage, to worker: Int) -> Bool {
        guard let sender = inboxes[worker].sender.withLock({ $0 }) else { return false }
        return sender.send(message)
    }

    /// The kernel decides to which worker a peer's datagrams come.
    func sendToAll(_ message: TransportMessage) { for worker in inboxes.indices { send(message, to: worker) } }

    func ring(from: Int, to: Int) -> DatagramRing { inboxes[to].ring(from: from) }
}
