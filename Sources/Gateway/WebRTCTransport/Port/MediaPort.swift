import DTLS
public import EventLoop
import GatewayMetrics
import Refusals
import STUN
public import Sockets
import Wire

/// One worker's part of the media port: every datagram of every session comes in here and is told apart (RFC 7983).
///
/// Only validated tuples get further than STUN. Confined to the worker's loop.
public final class MediaPort {
    public let loop: EventLoop
    public let index: Int
    public let plane: TransportPlane
    let socket: UDPSocket
    let agent = STUNAgent()
    let reply = UnsafeMutableRawBufferPointer.allocate(byteCount: STUNAgent.maximumReplyByteCount, alignment: 8)
    /// Who makes the sessions of each purpose. Set before the loop runs.
    public var sessionMakers: [TransportPurpose: any TransportSessionMaker] = [:]

    var tuples = TupleTable()
    /// What peers of sessions that ended by silence are answered with.
    var farewells = Farewells()
    /// ICE-TCP connections by their peer.
    var connections: [SocketAddress: ICEConnection] = [:]
    /// Connections that leave for other workers at the end of this turn.
    var moves: [TimerWatch] = []
    var sessions: [ObjectIdentifier: PeerTransport] = [:]
    /// Tuples without a check that carried something genuine.
    var rebound: [TupleKey: any TransportEntry] = [:]
    /// A packet as it came, while it is tried.
    let attempt = UnsafeMutableRawBufferPointer.allocate(byteCount: DatagramRing.slotByteCount, alignment: 8)
    /// Sessions with packets gathered from the batch at hand.
    var gathering: [PeerTransport] = []
    /// Workers that got datagrams from the batch at hand.
    private var wokenWorkers: Set<Int> = []
    private var mailbox: Mailbox<TransportMessage>?
    /// Every 50 ms while there are tuples or sessions; nil while there are none.
    var rounds: TimerWatch?
    var roundCount = 0
    /// The kernel's drops that are in the metric.
    var countedDrops = 0
    /// Every 10 ms while a session misses packets; nil while none does.
    var repairs: TimerWatch?
    private var contexts: [(certificate: DTLSCertificate, context: DTLSContext)] = []
    /// Claims as DTLS client that wait for a USE-CANDIDATE that may not come.
    var delayedClaims: [ObjectIdentifier: TimerWatch] = [:]
    var rebindingBudget = RebindingBudget()
    /// The process before us, as long as it has sessions: what is none of ours may be theirs.
    var predecessor: DatagramLink?
    /// From the process after us, which reads the socket.
    var successor: DatagramLink?

    /// - Parameter socket: this worker's member of the media port's group.
    public init(loop: EventLoop, index: Int, socket: BoundSocket, plane: TransportPlane) throws {
        (self.loop, self.index, self.plane) = (loop, index, plane)
        self.socket = UDPSocket(loop: loop, socket: socket)
        let mailbox = try Mailbox<TransportMessage>(loop: loop, priority: .media) { [unowned self] in receive($0) }
        self.mailbox = mailbox
        plane.open(worker: index, mailbox.sender)
        self.socket.onDatagrams = { [unowned self] in receive($0) }
    }

    deinit {
        reply.deallocate()
        attempt.deallocate()
    }

    public var counters: UDPCounters { socket.counters }
    public var sessionCount: Int { sessions.count }

    /// Ends the sessions of a purpose that have lived longest, at most so many (a drain's deadline has come).
    /// - Returns: how many ended.
    @discardableResult
    public func endOldest(_ count: Int, of purpose: TransportPurpose = .publish) -> Int {
        let oldest = sessions.values.filter { $0.entry.purpose == purpose }.sorted {
            $0.entry.transport.createdAt < $1.entry.transport.createdAt
        }.prefix(count)
        for session in oldest { session.end(.shutdown) }
        return oldest.count
    }

    /// Ends every session by DTLS and reads no more.
    public func stop() {
        for session in Array(sessions.values) { session.end(.shutdown) }
        for connection in connections.values { connection.close() }
        connections = [:]
        socket.stopReceiving()
        rounds = nil
        repairs = nil
    }

    /// The DTLS settings for a session's certificate; the last few are kept.
    func context(for certificate: DTLSCertificate) throws(DTLSError) -> DTLSContext {
        if let known = contexts.first(where: { $0.certificate == certificate }) { return known.context }
        let context = try DTLSContext(certificate)
        contexts.append((certificate, context))
        if contexts.count > Self.maximumContexts { contexts.removeFirst() }
        return context
    }

    // MARK: - Datagrams

    private func receive(_ batch: DatagramBatch) {
        let now = loop.now
        for datagram in batch {
            receive(datagram.payload, on: MediaPath(remote: datagram.source, local: datagram.local), at: now)
        }
        endBatch()
    }

    /// Flushes what the batch left, while its bytes are still there.
    func endBatch() {
        for session in gathering {
            session.flush()
            if repairs == nil, session.wantsEveryTick { startRepairs() }
        }
        gathering.removeAll(keepingCapacity: true)
        for worker in wokenWorkers { plane.send(.datagrams(from: index), to: worker) }
        wokenWorkers.removeAll(keepingCapacity: true)
    }

    func receive(_ payload: UnsafeMutableRawBufferPointer, on path: MediaPath, at now: MonotonicTime) {
        guard let first = payload.first else { return }
        switch DatagramKind(firstByte: first) {
        case .stun: receiveCheck(UnsafeRawBufferPointer(payload), on: path, at: now)
        case .dtls: receiveDTLS(UnsafeRawBufferPointer(payload), on: path, at: now)
        case .media: receiveMedia(payload, on: path, at: now)
        case .other: plane.metrics.garbage.increment()
        }
    }

    private func receiveDTLS(_ datagram: UnsafeRawBufferPointer, on path: MediaPath, at now: MonotonicTime) {
        guard let tuple = tuples.find(path.key) else {
            if pass(datagram, on: path) { return }
            return plane.metrics.unverifiedDTLS.increment()
        }
        let others = tuple.others
        // Whose handshake is done drops what is another's; while it is not, it alone shall have the tuple.
        let isShared = !others.isEmpty && tuple.first.entry.transport.isReady
        hand(datagram, to: tuple.first, on: path, at: now)
        for member in others where isShared { hand(datagram, to: member, on: path, at: now) }
    }

    private func hand(_ datagram: UnsafeRawBufferPointer, to member: TupleMember, on path: MediaPath, at now: MonotonicTime) {
        if let session = member.session { return session.receiveDTLS(datagram, on: path, at: now) }
        switch member.entry.transport.current {
        case .owned(let worker) where worker != index:
            forward(datagram, of: member.entry, isValidated: true, on: path, to: worker, at: now)
        case .pending where !member.entry.transport.peer.isDTLSClient && datagram.isClientHello:
            claim(member.entry, on: path, at: now)?.receiveDTLS(datagram, on: path, at: now)
        case .ended: tuples.remove(member.entry, at: path.key)
        default: break
        }
    }

    private func receiveMedia(_ datagram: UnsafeMutableRawBufferPointer, on path: MediaPath, at now: MonotonicTime) {
        guard let tuple = tuples.find(path.key) else {
            if let record = farewells.answer(path.key, at: now) { record.withUnsafeBytes { send($0, on: path) } }
            return receiveRebound(datagram, on: path, at: now)
        }
        guard tuple.others.isEmpty else { return receiveShared(datagram, tuple, on: path, at: now) }
        if let session = tuple.first.session {
            if session.receiveMedia(datagram, on: path, at: now) { tuple.lastGenuine = now }
        } else {
            passOn(UnsafeRawBufferPointer(datagram), of: tuple.first, tuple, on: path, at: now)
        }
    }

    /// Media of a session of another worker. Whether it is genuine shows there; one that is heard at all is taken to be heard here.
    func passOn(
        _ datagram: UnsafeRawBufferPointer, of member: TupleMember, _ tuple: PeerTuple, on path: MediaPath, at now: MonotonicTime
    ) {
        guard case .owned(let worker) = member.entry.transport.current, worker != index else { return }
        forward(datagram, of: member.entry, isValidated: true, on: path, to: worker, at: now)
        if member === tuple.first, now - member.entry.transport.lastHeard <= PeerTuple.hold { tuple.lastGenuine = now }
    }

    // MARK: - Other workers

    func forward(
        _ datagram: UnsafeRawBufferPointer, of entry: any TransportEntry, isValidated: Bool, on path: MediaPath, to worker: Int,
        at now: MonotonicTime
    ) {
        let ring = plane.ring(from: index, to: worker)
        guard ring.push(datagram, of: entry, isValidated: isValidated, path: path, arrival: now) else {
            return plane.metrics.foreignDropped.increment()
        }
        plane.metrics.foreign.increment()
        wokenWorkers.insert(worker)
    }

    private func receive(_ message: TransportMessage) {
        switch message {
        case .datagrams(let worker):
            let ring = plane.ring(from: worker, to: index)
            ring.drain { receiveForeign($0, $1, from: worker) }
            endBatch()
            ring.release()
        case .validated(let entry, let path): sessions[ObjectIdentifier(entry)]?.tupleValidated(path, at: loop.now)
        case .rebound(let entry, let path): learn(path, of: entry)
        case .end(let entry, let reason): end(entry, reason)
        case .perform(let entry, let body): body(sessions[ObjectIdentifier(entry)]?.session)
        case .connection(let entry, let detached): adopt(detached, of: entry)
        case .farewell(let records, let path): farewells.add(records, for: path.key, at: loop.now)
        }
    }

    /// A datagram that another worker took from a tuple it validated, or that is tried for rebinding.
    private func receiveForeign(_ datagram: UnsafeMutableRawBufferPointer, _ slot: DatagramRing.Slot, from worker: Int) {
        guard let first = datagram.first, let entry = slot.entry, let session = sessions[ObjectIdentifier(entry)] else { return }
        switch DatagramKind(firstByte: first) {
        case .dtls: session.receiveDTLS(UnsafeRawBufferPointer(datagram), on: slot.path, at: slot.arrival)
        case .media where slot.isValidated: _ = session.receiveMedia(datagram, on: slot.path, at: slot.arrival)
        case .media: receiveForeignRebound(datagram, slot, from: worker)
        default: break
        }
    }

    private func end(_ entry: any TransportEntry, _ reason: SessionEnd) {
        guard let session = sessions[ObjectIdentifier(entry)] else { return entry.conclude(reason) }
        session.end(reason)
    }

    /// Today's, yesterday's, and one in between a restart of the clock.
    private static let maximumContexts = 3
}
