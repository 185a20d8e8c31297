public import EventLoop
import GatewayMetrics
public import Sockets
import Wire

/// One worker's part of the media port: every datagram of every session comes in here and is told apart (RFC 7983).
///
/// Only validated tuples get further than STUN. Confined to the worker's loop.
@safe public final class MediaPort {
    public let loop: EventLoop
    /// The worker's.
    public let index: Int
    public let context: TransportContext
    /// Who makes the sessions of each purpose. Set before the loop runs.
    public var sessionMakers: [TransportPurpose: any TransportSessionMaker] = [:]

    // The ways in and out.
    private let socket: UDPSocket
    let connections: ICEConnections
    private let foreign: ForeignDatagrams
    private var mailbox: Mailbox<TransportMessage>?
    private let handover: PortHandover

    // Whose a datagram is.
    private(set) var tuples = TupleTable()
    private let checks: ConnectivityChecks
    private let claims: ClientClaims
    private let transports: ClaimedTransports
    let certificateContexts = DTLSContexts()
    private let validated: ValidatedMedia
    private let rebound: ReboundMedia
    /// Answers for peers whose sessions ended by silence.
    private var farewells = Farewells()
    private let clock: PortClock
    /// The kernel's drops that are in the metric.
    private var countedDrops = 0
    private let received: Counter
    /// Where sessions protect their control packets before they are sent.
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: scratchByteCount, alignment: 8)

    /// - Parameter socket: this worker's member of the media port's group.
    public init(loop: EventLoop, index: Int, socket: BoundSocket, context: TransportContext) throws(SystemError) {
        (self.loop, self.index, self.context, received) = (loop, index, context, context.metrics.received(by: index))
        self.socket = UDPSocket(loop: loop, socket: socket, receiveBuffer: context.configuration.receiveBuffer)
        connections = ICEConnections(loop: loop, strangers: context.strangers, metrics: context.metrics)
        clock = PortClock(loop: loop)
        (checks, claims) = (ConnectivityChecks(context), ClientClaims(loop: loop))
        transports = ClaimedTransports(loop: loop, clock: clock)
        foreign = ForeignDatagrams(context, of: index)
        handover = PortHandover(loop: loop, socket: self.socket, metrics: context.metrics)
        validated = ValidatedMedia(context, of: index, foreign: foreign)
        rebound = ReboundMedia(context, of: index, transports: transports, foreign: foreign, handover: handover, clock: clock)
        let mailbox = try Mailbox<TransportMessage>(loop: loop, priority: .media) { [unowned self] in receive($0) }
        self.mailbox = mailbox
        context.open(worker: index, mailbox.sender)
        self.socket.onDatagrams = { [unowned self] in receive($0) }
        self.socket.onRefusal = { [metrics = context.metrics] in metrics.unsent.increment(by: $0) }
        unsafe connections.onDatagram = { [unowned self] in
            unsafe receive($0, on: $1, at: loop.now)
            endBatch()
        }
        connections.onClosed = { [unowned self] in tuples.remove($0.key) }
        unsafe handover.onDatagram = { [unowned self] in unsafe receive($0, on: $1, at: loop.now) }
        handover.onBatchEnd = { [unowned self] in endBatch() }
        claims.onDue = { [unowned self] entry, path, now in claim(entry, on: path, at: now)?.startHandshake() }
        clock.onRound = { [unowned self] in goRound($0) }
    }

    deinit { unsafe scratch.deallocate() }

    /// Ends the sessions of a purpose that have lived longest, at most so many (a drain's deadline has come).
    /// - Returns: how many ended.
    @discardableResult
    public func endOldest(_ count: Int, of purpose: TransportPurpose = .publish) -> Int {
        transports.endOldest(count, of: purpose)
    }

    /// Ends every session by DTLS and reads no more.
    public func stop() {
        transports.endAll()
        connections.closeAll()
        socket.stopReceiving()
        clock.stop()
    }

    /// Asks for a `flush` of the session when the batch at hand has been received.
    func gather(_ transport: PeerTransport) { transports.gather(transport) }

    /// A genuine packet of a new source came: SRTP of it may be tried from unknown tuples.
    func register(source ssrc: UInt32, of transport: PeerTransport) {
        transport.sources.append(ssrc)
        context.directory.add(source: ssrc, for: transport.entry)
    }

    /// Drops all that leads to a session that has ended.
    func forget(_ transport: PeerTransport) {
        transports.remove(transport)
        context.directory.remove(sources: transport.sources, of: transport.entry)
        for path in tuples.removeAll(of: transport.entry) where path.isStream { connections.closeAfterFlush(path) }
    }

    func send(_ datagram: UnsafeRawBufferPointer, on path: MediaPath) {
        if path.isStream {
            unsafe connections.send(datagram, on: path)
        } else {
            unsafe socket.send(datagram, to: path.remote, from: path.local)
        }
    }

    private static let scratchByteCount = 1_500

    // MARK: - Time

    /// Looks at every session, for transport feedback, and each second for tuples and connections that nobody uses.
    private func goRound(_ number: Int) -> Bool {
        let (drops, now) = (socket.counters.droppedByKernel, loop.now)
        context.metrics.kernelDrops.increment(by: drops - countedDrops)
        countedDrops = drops
        transports.goRound(number, at: now)
        if number % Self.roundsPerSweep == 0 {
            tuples.sweep(at: now, lifetime: Self.tupleLifetime)
            rebound.sweep()
            connections.sweep { tuples.find($0.key) != nil }
        }
        return !(tuples.isEmpty && transports.isEmpty && rebound.isEmpty && connections.isEmpty)
    }

    private static let roundsPerSweep = 20
    /// Checks come every few seconds; a tuple without them that this worker only passes on is forgotten.
    private static let tupleLifetime: Duration = .seconds(60)

    // MARK: - Datagrams

    private func receive(_ batch: DatagramBatch) {
        let now = loop.now
        received.increment(by: batch.count)
        for datagram in batch {
            unsafe receive(datagram.payload, on: MediaPath(remote: datagram.source, local: datagram.local), at: now)
        }
        endBatch()
    }

    /// Flushes what the batch left, while its bytes are still there.
    func endBatch() {
        transports.flush()
        foreign.wakeWorkers()
    }

    func receive(_ payload: UnsafeMutableRawBufferPointer, on path: MediaPath, at now: MonotonicTime) {
        guard let first = unsafe payload.first else { return }
        let datagram = unsafe ReceivedDatagram(payload: payload, path: path, arrival: now)
        switch DatagramKind(firstByte: first) {
        case .stun: receiveCheck(datagram)
        case .dtls: receiveDTLS(datagram)
        case .media: receiveMedia(datagram)
        case .other: context.metrics.garbage.increment()
        }
    }

    private func receiveDTLS(_ datagram: ReceivedDatagram) {
        guard let tuple = tuples.find(datagram.path.key) else {
            if handover.pass(datagram) { return }
            return context.metrics.unverifiedDTLS.increment()
        }
        let others = tuple.others
        // Whose handshake is done drops what is another's; while it is not, it alone shall have the tuple.
        let isShared = !others.isEmpty && tuple.first.entry.transport.isReady
        hand(datagram, to: tuple.first)
        for member in others where isShared { hand(datagram, to: member) }
    }

    private func hand(_ datagram: ReceivedDatagram, to member: TupleMember) {
        let path = datagram.path
        if let transport = member.transport { return unsafe transport.receiveDTLS(datagram.bytes, on: path) }
        switch member.entry.transport.ownership {
        case .owned(let worker) where worker != index:
            foreign.forward(datagram, of: member.entry, isValidated: true, to: worker)
        case .pending where unsafe !member.entry.transport.peer.isDTLSClient && datagram.bytes.isClientHello:
            unsafe claim(member.entry, on: path, at: datagram.arrival)?.receiveDTLS(datagram.bytes, on: path)
        case .ended: tuples.remove(member.entry, at: path.key)
        default: break
        }
    }

    private func receiveMedia(_ datagram: ReceivedDatagram) {
        let path = datagram.path
        if let tuple = tuples.find(path.key) { return validated.receive(datagram, at: tuple) }
        if let record = farewells.answer(path.key, at: datagram.arrival) {
            unsafe record.withUnsafeBytes { unsafe send($0, on: path) }
        }
        rebound.receive(datagram)
    }

    // MARK: - Other workers

    private func receive(_ message: TransportMessage) {
        switch message {
        case .datagrams(let worker):
            unsafe foreign.take(from: worker, { unsafe receiveForeign($0, $1, from: worker) }, flush: { endBatch() })
        case .validated(let entry, let path): transports[entry]?.tupleValidated(path, at: loop.now)
        case .rebound(let entry, let path): if tuples.find(path.key) == nil { rebound.learn(path.key, of: entry) }
        case .end(let entry, let reason): transports[entry]?.end(reason) ?? entry.finishOnce(reason)
        case .perform(let entry, let body): body(transports[entry]?.session)
        case .connection(let entry, let detached): adopt(detached, of: entry)
        case .farewell(let records, let path): farewells.add(records, for: path.key, at: loop.now)
        }
    }

    /// A datagram that another worker took from a tuple it validated, or that is tried for rebinding.
    private func receiveForeign(_ datagram: UnsafeMutableRawBufferPointer, _ slot: DatagramRing.Slot, from worker: Int) {
        guard let first = unsafe datagram.first, let transport = transports[slot.entry] else { return }
        switch DatagramKind(firstByte: first) {
        case .dtls: unsafe transport.receiveDTLS(UnsafeRawBufferPointer(datagram), on: slot.path)
        case .media where slot.isValidated: _ = unsafe transport.receiveMedia(datagram, on: slot.path, at: slot.arrival)
        case .media: unsafe rebound.receiveForeign(datagram, slot, of: transport, from: worker)
        default: break
        }
    }
}

// MARK: - Connectivity checks

extension MediaPort {
    private func receiveCheck(_ datagram: ReceivedDatagram) {
        let path = datagram.path
        let verdict = unsafe checks.receive(datagram, tuple: { tuples.find(path.key) }, send: { unsafe send($0, on: path) })
        switch verdict {
        case .genuine(let check): checkSucceeded(check)
        case .foreign: if !handover.pass(datagram) { context.metrics.garbage.increment() }
        case .rejected: break
        }
    }

    private func checkSucceeded(_ check: GenuineCheck) {
        let (entry, path, now) = (check.entry, check.path, check.arrival)
        entry.transport.heard(at: now)
        if path.isStream { connections.authenticate(path) }
        let isNew = note(check)
        switch entry.transport.ownership {
        case .pending:
            entry.reached(.checked, peer: path.remote)
            if entry.transport.peer.isDTLSClient { claims.checked(check) }
        case .owned(index): transports[entry]?.tupleValidated(path, at: now)
        case .owned(let worker) where path.isStream: move(path, of: entry, to: worker)
        case .owned(let worker): if isNew { context.send(.validated(entry, path), to: worker) }
        case .ended: tuples.remove(entry, at: path.key)
        }
    }

    /// Keeps the tuple for the session; true when this worker did not know them together.
    private func note(_ check: GenuineCheck) -> Bool {
        let member = TupleMember(
            check.entry, transport: transports[check.entry], ufrag: check.ufrag, password: check.password, now: check.arrival)
        guard note(member, on: check.path) else { return false }
        clock.startRounds()
        rebound.forget(check.path.key)
        farewells.remove(check.path.key)
        // The first check with the credentials of a restart ends those before (RFC 8445 §9).
        context.directory.remove(check.entry.transport.confirm(check.ufrag))
        return true
    }

    private func note(_ member: TupleMember, on path: MediaPath) -> Bool {
        let noted = tuples.note(member, on: path)
        if let abandoned = noted.abandoned { connections.abandon(abandoned) }
        return noted.isNew
    }

    /// pending → owned by this worker; nil when another one was faster or the session has ended.
    private func claim(_ entry: any TransportEntry, on path: MediaPath, at now: MonotonicTime) -> PeerTransport? {
        guard let sessionMaker = sessionMakers[entry.purpose], entry.transport.claim(worker: index) else { return nil }
        entry.reached(.claimed, peer: path.remote)
        let transport = PeerTransport(entry: entry, port: self, path: path, now: now)
        transport.session = sessionMaker.makeSession(for: entry, on: transport)
        transports.add(transport)
        tuples.own(entry, by: transport)
        for tuple in tuples.tuples(of: entry) { transport.tupleValidated(tuple.path, at: now) }
        return transport
    }

    /// Goes on with a connection whose session is ours.
    func adopt(_ detached: DetachedConnection, of entry: any TransportEntry) {
        // The session may have ended while its connection was on the way, which closes with its descriptor.
        guard let transport = transports[entry], let credentials = entry.transport.newestCredentials else { return }
        guard let path = connections.resume(detached) else { return }
        let member = TupleMember(
            entry, transport: transport, ufrag: credentials.ufrag, password: credentials.password, now: loop.now)
        _ = note(member, on: path)
        clock.startRounds()
        transport.tupleValidated(path, at: loop.now)
    }

    /// The session of this connection lives on another worker.
    private func move(_ path: MediaPath, of entry: any TransportEntry, to worker: Int) {
        // One that others are on as well stays with them.
        guard tuples.find(path.key)?.others.isEmpty == true else { return }
        connections.move(path) { [context] in context.send(.connection(entry, $0), to: worker) }
    }
}

// MARK: - Handover

extension MediaPort {
    /// Another process reads from now on; what it passes on comes over `link`.
    public func suspend(readingFrom link: OwnedDescriptor) { handover.suspend(readingFrom: link) }

    /// Reads nothing until `resume()`: another process still does.
    public func suspend() { handover.suspend() }

    /// Reads (again).
    public func resume() { handover.resume() }

    /// From now on datagrams of nobody we know go over `link`; nil when the process there has ended.
    public func passForeign(over link: OwnedDescriptor?) { handover.passForeign(over: link) }
}
