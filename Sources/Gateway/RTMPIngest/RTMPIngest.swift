import Admission
public import EventLoop
import GatewayLogging
import GatewayMetrics
public import OpenSSL
import RTMP
import Refusals
import Settings
import StageHub
public import Transcoding
import Wire

/// One worker's RTMP front end: its connections, and the door through which answers from other threads come. Confined.
public final class RTMPIngest {
    public let environment: RTMPIngestEnvironment
    /// Given once, before the first connection.
    public weak var host: (any RTMPPublishHost)?
    /// What peers get that begin with TLS on the RTMP port; a reloaded certificate is put here.
    public var tls: TLSContext?

    let loop: EventLoop
    let metrics: RTMPMetrics
    let transcoder: AudioTranscoder
    /// Where messages of several chunks are put together, whoever sends them.
    let messageBuffers = MessageBufferPool()
    let packetScratch = PacketScratch()
    private var mailbox: Mailbox<WorkerMessage>?
    private var connections: [UInt64: RTMPConnection] = [:]
    private var nextID: UInt64 = 1
    /// Ids of connections in the order of accepting, to find the oldest that has not published; others are skipped over.
    private var waiting: ArraySlice<UInt64> = []

    /// - Throws: when the kernel gives no more descriptors.
    public init(loop: EventLoop, environment: RTMPIngestEnvironment, transcoder: AudioTranscoder) throws(SystemError) {
        (self.loop, self.environment, self.transcoder) = (loop, environment, transcoder)
        metrics = RTMPMetrics(environment.metrics)
        mailbox = try Mailbox(loop: loop) { [unowned self] in receive($0) }
    }

    var settings: RTMPSettings { environment.settings }

    /// Connections of this worker, and those of them that publish.
    public var connectionCount: Int { connections.count }
    public var liveCount: Int { connections.values.count { $0.live != nil } }

    /// Ends everything, encoders are told nothing: they reconnect.
    public func stop() {
        for connection in Array(connections.values) { connection.end(.shutdown) }
    }

    /// Ends the publishes that have lived longest, at most so many (a drain's deadline has come).
    /// - Returns: how many ended.
    public func endOldest(_ count: Int) -> Int {
        let oldest = connections.values.filter { $0.live != nil }.sorted { $0.id < $1.id }.prefix(count)
        for connection in oldest { connection.end(.shutdown) }
        return oldest.count
    }

    /// Asks the encoders that understand it to connect anew, a drain's gentle way (Enhanced RTMP v2).
    /// - Returns: how many were asked.
    public func requestReconnect(tcURL: String?) -> Int {
        connections.values.count { $0.requestReconnect(tcURL: tcURL) }
    }

    func isTrustedProxy(_ address: IPAddress) -> Bool { environment.trustedProxies.contains { $0.contains(address) } }

    /// Takes a connection; nil when its address has too many. A balancer's is counted once it has said for whom it speaks.
    func accept(_ transport: any ConnectionTransport) -> RTMPConnection? {
        loop.assertOnLoop()
        metrics.connections.increment()
        let connection = RTMPConnection(id: nextID, ingest: self, transport: transport)
        guard isTrustedProxy(connection.source.ip) || admit(connection) else {
            transport.close()
            return nil
        }
        connections[nextID] = connection
        waiting.append(nextID)
        nextID += 1
        return connection
    }

    /// Counts a connection that has not published yet under its peer's address.
    /// - Returns: false when that address has too many.
    func admit(_ connection: RTMPConnection) -> Bool {
        let answer = environment.admission.admit(connection.source.ip)
        guard answer != .tooManyFromAddress else {
            connection.log(.info, "rtmp_too_many_from_address")
            return false
        }
        connection.admittedAddress = connection.source.ip
        if answer == .admittedOverLimit { endOldestUnauthenticated() }
        return true
    }

    /// A connection that has not published has begun or completed a message.
    func countBytes(of connection: RTMPConnection) {
        let change = connection.session.partialByteCount - connection.countedByteCount
        connection.countedByteCount += change
        if !environment.admission.keeps(change) { endOldestUnauthenticated() }
    }

    private func endOldestUnauthenticated() {
        while let id = waiting.popFirst() {
            guard let connection = connections[id], connection.admittedAddress != nil else { continue }
            connection.log(.info, "rtmp_connection_displaced")
            return connection.end(.connectionLost)
        }
    }

    func publishBegan(_ connection: RTMPConnection) {
        leaveAdmission(connection)
    }

    func publishEnded(_ connection: RTMPConnection, _ counters: PipelineCounters) { metrics.count(counters) }

    func forget(_ connection: RTMPConnection) {
        leaveAdmission(connection)
        connections[connection.id] = nil
    }

    private func leaveAdmission(_ connection: RTMPConnection) {
        guard let address = connection.admittedAddress else { return }
        connection.admittedAddress = nil
        environment.admission.leave(address, kept: connection.countedByteCount)
        // Most connections come and go in order: keep the list as short as that allows.
        while let first = waiting.first, connections[first]?.admittedAddress == nil { waiting.removeFirst() }
    }

    /// How other threads answer one publish of one connection.
    func sender(for connection: UInt64, publish: UInt64) -> @Sendable (WorkerMessage.Content) -> Bool {
        guard let sender = mailbox?.sender else { return { _ in false } }
        return { sender.send(WorkerMessage(connection: connection, publish: publish, content: $0)) }
    }

    /// Asks for a publish of a connection what may be answered at once, or later by another thread.
    func ask(
        for connection: UInt64, publish: UInt64, _ ask: (_ answer: @escaping @Sendable (WorkerMessage.Content) -> Bool) -> Void
    ) {
        mailbox?.ask { answer in
            ask { answer(WorkerMessage(connection: connection, publish: publish, content: $0)) }
        }
    }

    private func receive(_ message: WorkerMessage) {
        let connection = connections[message.connection]
        let attempt = connection?.attempt?.number == message.publish ? connection : nil
        switch message.content {
        case .authorized(let result): attempt?.authorized(result)
        case .claimed(.granted(let lease)) where attempt == nil: environment.leases.release(lease)
        case .claimed(let answer): attempt?.claimed(answer)
        case .incumbentEnded: attempt?.lookAtIncumbent()
        case .leaseEnded(let reason):
            if connection?.live?.number == message.publish { connection?.leaseEnded(reason) }
        }
    }
}
