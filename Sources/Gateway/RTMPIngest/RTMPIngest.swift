public import Admission
public import EventLoop
import GatewayLogging
public import GatewayMetrics
public import MediaContract
public import Monitoring
public import OpenSSL
import RTMP
import Refusals
public import Settings
public import Sockets
public import StageHub
public import Transcoding
public import Wire

/// One worker's RTMP front end: its connections, and what other threads answer and order. Confined.
public final class RTMPIngest {
    public let environment: RTMPIngestEnvironment
    /// For peers that begin with TLS on the RTMP port; a reloaded certificate is put here.
    public var tls: TLSContext?

    let loop: EventLoop
    let metrics: RTMPMetrics
    let transcoder: AudioTranscoder
    /// The contract, and whoever wants a publish's media.
    let host: any PublishHost<ContractSession>
    /// Where messages of several chunks are put together, whoever sends them.
    let messageBuffers = MessageBufferPool()
    let packetScratch = PacketScratch()
    /// The way back for answers to what publishes ask.
    let replies: ReplyBox
    private var orders: Mailbox<PublishOrder>?
    private var connections: [UInt64: RTMPConnection] = [:]
    private var nextID: UInt64 = 1
    /// Connections that have not published.
    private var unpublished: UnknownConnections<UInt64>

    /// - Throws: when the kernel gives no more descriptors.
    public init(
        loop: EventLoop, environment: RTMPIngestEnvironment, transcoder: AudioTranscoder, host: any PublishHost<ContractSession>
    ) throws(SystemError) {
        (self.loop, self.environment, self.transcoder, self.host) = (loop, environment, transcoder, host)
        (metrics, unpublished) = (RTMPMetrics(environment.metrics), UnknownConnections(environment.admission))
        replies = try ReplyBox(loop: loop, maximumQuestions: Self.maximumQuestions)
        orders = try Mailbox(loop: loop) { [unowned self] in receive($0) }
    }

    var settings: RTMPSettings { environment.settings }

    /// Connections of this worker.
    public var connectionCount: Int { connections.count }

    /// Ends everything without a word to encoders, so that they reconnect.
    public func stop() {
        for connection in Array(connections.values) { connection.end(.shutdown) }
    }

    /// Ends the publishes that have lived longest, at most so many (a drain's deadline has come).
    /// - Returns: how many ended.
    public func endOldest(_ count: Int) -> Int {
        let oldest = connections.values.filter { $0.isLive }.sorted { $0.id < $1.id }.prefix(count)
        for connection in oldest { connection.end(.shutdown) }
        return oldest.count
    }

    /// Asks the encoders that understand it to connect anew, a drain's gentle way (Enhanced RTMP v2).
    public func requestReconnect() {
        for connection in Array(connections.values) { connection.requestReconnect() }
    }

    func isTrustedProxy(_ address: IPAddress) -> Bool { environment.trustedProxies.contains { $0.contains(address) } }

    /// Takes a connection; nil when its address has too many, or no other one can make way. A balancer's counts under an address
    /// once it has said for whom it speaks; until then only `rtmp.handshakeTimeout` ends it.
    func accept(_ transport: any ConnectionTransport, beginsWithProxyHeader: Bool) -> RTMPConnection? {
        loop.assertOnLoop()
        metrics.connections.increment()
        guard makeRoom() else {
            metrics.refused.increment()
            Log.strangerEvent(.warning, "rtmp_too_many_connections")
            transport.close()
            return nil
        }
        let connection = RTMPConnection(
            id: nextID, ingest: self, transport: transport, beginsWithProxyHeader: beginsWithProxyHeader)
        guard beginsWithProxyHeader || admit(connection) else {
            environment.admission.closed()
            transport.close()
            return nil
        }
        connections[nextID] = connection
        nextID += 1
        return connection
    }

    /// Counts one more connection. Beyond `rtmp.maximumConnections` the oldest of ours that has not published makes way.
    private func makeRoom() -> Bool {
        if environment.admission.opened() || displaceOldest() { return true }
        environment.admission.closed()
        return false
    }

    /// Counts a connection that has not published yet under its peer's address.
    /// - Returns: false when that address has too many.
    func admit(_ connection: RTMPConnection) -> Bool {
        guard case .admitted(let displaced) = unpublished.admit(connection.id, from: connection.source.ip) else {
            metrics.refused.increment()
            connection.story.log(.info, "rtmp_too_many_from_address")
            return false
        }
        if let displaced { displace(displaced) }
        return true
    }

    /// A connection that has not published has begun or completed a message.
    func countBytes(of connection: RTMPConnection) {
        if !unpublished.keeps(connection.partialByteCount, by: connection.id) { displaceOldest() }
    }

    /// - Returns: false when there is none.
    @discardableResult
    private func displaceOldest() -> Bool {
        guard let oldest = unpublished.oldest else { return false }
        displace(oldest)
        return true
    }

    private func displace(_ id: UInt64) {
        guard let connection = connections[id] else { return }
        metrics.displaced.increment()
        connection.story.log(.info, "rtmp_connection_displaced")
        connection.end(.connectionLost)
    }

    func forget(_ connection: RTMPConnection) {
        leaveAdmission(connection)
        guard connections.removeValue(forKey: connection.id) != nil else { return }
        environment.admission.closed()
    }

    /// A connection publishes or is gone: it no longer counts among those that have not published.
    func leaveAdmission(_ connection: RTMPConnection) { unpublished.leave(connection.id) }

    /// How other threads give orders to one publish of one connection.
    func sender(for connection: UInt64, publish: UInt64) -> @Sendable (PublishOrder.Content) -> Void {
        guard let sender = orders?.sender else { return { _ in } }
        return { sender.send(PublishOrder(connection: connection, publish: publish, content: $0)) }
    }

    private func receive(_ order: PublishOrder) {
        guard let publish = connections[order.connection]?.publish, publish.number == order.publish else { return }
        switch order.content {
        case .incumbentEnded: publish.lookAtIncumbent()
        case .leaseEnded(let reason): publish.leaseEnded(reason)
        }
    }

    /// More than connections that have not published; each waits for one answer at most.
    private static let maximumQuestions = 65_536
}

/// What another thread wants of one publish.
struct PublishOrder: Sendable {
    enum Content: Sendable {
        /// The lease that the publish waits for was given back.
        case incumbentEnded
        case leaseEnded(LeaseEnd)
    }

    var connection: UInt64
    /// Which of the connection's publishes is meant: an order may come after that one is over.
    var publish: UInt64
    var content: Content
}

/// What all workers' RTMP front ends share.
public struct RTMPIngestEnvironment: Sendable {
    public var settings: RTMPSettings
    /// Balancers that speak for others: they must begin with a PROXY protocol header, version 2.
    public var trustedProxies: [IPNetwork]
    public var authorizer: any Authorizer
    public var leases: any PublishLeases
    public var reports: (any PublishReports)?
    /// Told of refusals; the publication's host follows publishes there.
    public var board: SessionBoard
    public var admission: ConnectionAdmission
    /// Publishes on all workers that wait for the lease of a live key.
    let queue = PublishQueue()
    public var metrics: MetricsRegistry

    public init(
        settings: RTMPSettings, admission: ConnectionAdmission, trustedProxies: [IPNetwork], authorizer: any Authorizer,
        leases: any PublishLeases, reports: (any PublishReports)? = nil, board: SessionBoard, metrics: MetricsRegistry
    ) {
        (self.settings, self.admission, self.trustedProxies) = (settings, admission, trustedProxies)
        (self.authorizer, self.leases) = (authorizer, leases)
        (self.reports, self.board, self.metrics) = (reports, board, metrics)
    }
}

extension RTMPIngest {
    /// Takes a connection from a listener of plain TCP (RTMPS is told by its first byte), or of TLS.
    public func accept(_ accepted: AcceptedConnection) {
        serve(TCPStream(loop: loop, accepted: accepted), beginsWithProxyHeader: isTrustedProxy(accepted.remoteAddress.ip))
    }

    /// Goes on with a stream that somebody else has begun to read: its TLS is done, and no PROXY header comes any more.
    ///
    /// What the stream holds unconsumed is for `stream.onBytes` as it is after this call.
    public func adopt(_ stream: TCPStream) { serve(stream, beginsWithProxyHeader: false) }

    private func serve(_ stream: TCPStream, beginsWithProxyHeader: Bool) {
        let transport = StreamTransport(stream, tls: tls)
        guard let connection = accept(transport, beginsWithProxyHeader: beginsWithProxyHeader) else { return }
        // The connection owns its transport, whose end takes these off the stream. A weak reference, asked with every read,
        // would make all counting of the connection's references slow.
        unsafe stream.onBytes = { [unowned connection] in unsafe connection.receive($0) }
        stream.onClosed = { [unowned connection] _ in connection.transportClosed() }
    }
}
