public import EventLoop
import GatewayMetrics
public import HTTP
public import OpenSSL
public import Sockets
import Synchronization
public import Wire

/// An HTTP/1.1 server on one loop: keep-alive, pipelining, TLS, event streams, trusted proxies, deadlines and caps.
///
/// Each request goes to the handler with an `HTTPExchange`, which is answered at once or later on the same loop. One request of a
/// connection is with the handler at a time; the ones behind it wait in the kernel.
///
///     let server = HTTPServer(loop: loop, configuration: configuration) { request, exchange in
///         exchange.respond(HTTPResponse(request.path == "/" ? .noContent : .notFound))
///     }
///     let address = try server.listen(on: SocketAddress(.loopback, port: 0))
public final class HTTPServer {
    /// Called on the loop for each request that arrived whole.
    public typealias Handler = (HTTPRequest, HTTPExchange) -> Void

    /// Changes apply to what begins later.
    public var configuration: HTTPServerConfiguration
    /// Since the server was made.
    public let counters: HTTPServerCounters
    /// Called when a listener cannot take connections, or cannot listen again (errno), at most ten times a second.
    public var onExhausted: (CInt) -> Void = { _ in }

    let loop: EventLoop
    let handler: Handler
    private(set) var isDraining = false
    private var listeners: [Listener] = []
    private var connections: [UInt64: HTTPConnection] = [:]
    private var lastNumber: UInt64 = 0
    /// Connections in the order of accepting, to find the oldest that has not sent a whole request; others are skipped over.
    private var newcomers: ArraySlice<UInt64> = []
    private var limits = ConnectionLimits()
    private let total: OpenConnections
    private var onDrained: (() -> Void)?
    private var date = (second: Int64.min, text: "")

    private struct Listener {
        var socket: TCPListener
        var context: ContextBox?
    }

    /// The context new connections of a listener get.
    private final class ContextBox {
        var context: TLSContext
        init(_ context: TLSContext) { self.context = context }
    }

    /// A server that listens nowhere yet: `listen(on:)` follows.
    public init(
        loop: EventLoop, configuration: HTTPServerConfiguration, counters: HTTPServerCounters = HTTPServerCounters(),
        handler: @escaping Handler
    ) {
        (self.loop, self.configuration, self.counters, self.handler) = (loop, configuration, counters, handler)
        total = configuration.openConnections
    }

    /// Handlers may hold exchanges for longer than we live.
    deinit {
        total.remove(connections.count)
        for connection in connections.values {
            connection.exchange?.abandon()
            connection.eventStream?.abandon()
        }
    }

    /// Open connections, idle ones too.
    public var connectionCount: Int { connections.count }

    /// Serves connections to a bound socket.
    /// - Parameter tls: speaks TLS, after the PROXY header if there is one.
    public func listen(on socket: BoundSocket, tls: TLSContext? = nil) throws(SystemError) {
        let box = tls.map(ContextBox.init)
        let listener = try TCPListener(loop: loop, socket: socket) { [unowned self] connection in
            accept(connection, tls: box?.context)
        }
        listener.onExhausted = { [unowned self] in onExhausted($0) }
        listeners.append(Listener(socket: listener, context: box))
    }

    /// Binds and serves an address; port 0 takes any free one.
    @discardableResult
    public func listen(on address: SocketAddress, tls: TLSContext? = nil) throws(SystemError) -> SocketAddress {
        let socket = try BoundSocket(.tcp, address)
        try listen(on: socket, tls: tls)
        return socket.localAddress
    }

    /// New TLS connections get this context.
    public func replaceTLS(_ context: TLSContext) {
        for listener in listeners { listener.context?.context = context }
    }

    /// Serves one connection that somebody else accepted.
    public func accept(_ accepted: AcceptedConnection, tls: TLSContext?) {
        let plain = AcceptedConnection(
            descriptor: accepted.descriptor, remoteAddress: accepted.remoteAddress, localAddress: accepted.localAddress)
        let stream = TCPStream(loop: loop, accepted: plain)
        serve(stream, tls: tls, beginsWithProxyHeader: isTrustedProxy(stream.remoteAddress.ip))
    }

    /// Goes on with a stream that somebody else has begun to read: its TLS is done, and no PROXY header comes any more.
    ///
    /// What the stream holds unconsumed is for `stream.onBytes` as it is after this call.
    public func adopt(_ stream: TCPStream) { serve(stream, tls: nil, beginsWithProxyHeader: false) }

    private func serve(_ stream: TCPStream, tls: TLSContext?, beginsWithProxyHeader: Bool) {
        loop.assertOnLoop()
        let peer = isTrustedProxy(stream.remoteAddress.ip) ? nil : stream.remoteAddress.ip
        guard !isDraining, peer.map(admit) ?? true else { return refuse(stream) }
        // Last: nobody makes way for one that is refused all the same.
        guard makeRoom() else {
            if let peer { release(peer) }
            return refuse(stream)
        }
        count(\.accepted)
        lastNumber += 1
        let connection = HTTPConnection(
            server: self, number: lastNumber, stream: stream, tls: tls, countedAddress: peer,
            beginsWithProxyHeader: beginsWithProxyHeader)
        connections[lastNumber] = connection
        newcomers.append(lastNumber)
        connection.start()
    }

    private func refuse(_ stream: TCPStream) {
        count(\.refused)
        stream.close()
    }

    /// Accepts no more, closes idle connections and event streams, and the others after their answer.
    /// - Parameter completed: is called when the last connection is gone.
    public func drain(_ completed: @escaping () -> Void = {}) {
        isDraining = true
        onDrained = completed
        listeners = []
        for connection in connections.values { connection.drain() }
        if connections.isEmpty { finishDraining() }
    }
}

// MARK: - Giving the listeners to another process, and taking them back

extension HTTPServer {
    /// Leaves new connections to whoever shares the listeners' descriptors, closes idle ones, and the others after their answer.
    public func suspend() {
        isDraining = true
        for listener in listeners { listener.socket.suspend() }
        for connection in connections.values { connection.drain() }
    }

    /// Serves new connections again.
    public func resume() {
        isDraining = false
        for listener in listeners { listener.socket.resume() }
    }
}

extension HTTPServer {
    /// Counts one more connection: the oldest of ours that has not sent a whole request makes way, and where there is none a kept
    /// one without a request. A client that is being answered, or sent events, is never displaced.
    private func makeRoom() -> Bool {
        forgetFormerNewcomers()
        if total.add(upTo: configuration.maximumConnections) { return true }
        if let newcomer = newcomers.popFirst().flatMap({ connections[$0] }) {
            count(\.displaced)
            newcomer.close()
        } else {
            connections.values.filter(\.isKeptIdle).min { $0.idleSince < $1.idleSince }?.close()
        }
        return total.add(upTo: configuration.maximumConnections)
    }

    /// Takes those off the front that have left or sent a request. The first one does so before `requestTimeout`, which bounds
    /// the list.
    private func forgetFormerNewcomers() {
        while let first = newcomers.first, connections[first]?.isNewcomer != true { newcomers.removeFirst() }
    }

    func isTrustedProxy(_ address: IPAddress) -> Bool { configuration.trustedProxies.contains { $0.contains(address) } }

    /// Counts a connection of the address; false when it has its share.
    func admit(_ address: IPAddress) -> Bool {
        if address.isLoopback, !configuration.countsLoopback { return true }
        let limit = configuration.maximumConnectionsPerAddress
        return limits.admit(address, limit: configuration.trust?.allowance(limit, for: address, at: loop.now) ?? limit)
    }

    func remove(_ connection: HTTPConnection) {
        guard connections.removeValue(forKey: connection.number) != nil else { return }
        total.remove(1)
        if let counted = connection.countedAddress { release(counted) }
        if isDraining, connections.isEmpty { finishDraining() }
    }

    private func release(_ address: IPAddress) {
        if !address.isLoopback || configuration.countsLoopback { limits.release(address) }
    }

    private func finishDraining() {
        let completed = onDrained
        onDrained = nil
        completed?()
    }

    func count(_ field: KeyPath<HTTPServerCounters, Counter>) { counters[keyPath: field].increment() }

    /// The `Date` field, made once a second.
    var dateField: String {
        let second = EventLoop.wallNow().secondsSince1970
        if second != date.second { date = (second, CivilTime(WallTime(secondsSince1970: second)).httpDate) }
        return date.text
    }
}

/// What an HTTP server grants its clients. Values without a default here are the operator's to say (`Settings`).
public struct HTTPServerConfiguration: Sendable {
    /// Of the head: lengths and counts (`Protocols/HTTP`).
    public var limits = HTTPLimits.standard
    /// The greatest body in bytes; asked when the head is known, so that too large a body is refused before it is read.
    public var maximumBodyLength: @Sendable (HTTPRequest) -> Int
    /// From a connection's, then from a request's first byte to its last: absolute, so that dribbling wins nothing.
    public var requestTimeout: Duration
    /// Between requests, and for a client to take an answer: as long again as often as it took enough of it (`AnswerPace`).
    public var idleTimeout: Duration
    /// From a request's last byte to the handler's answer, where that does not say how long it takes; then the client gets 503.
    public var answerTimeout = Duration.seconds(30)
    /// Open at once, of all servers that are made from this configuration and its copies: the workers' of one listener. Beyond it
    /// a connection without a request makes way for a newcomer.
    public var maximumConnections: Int
    let openConnections = OpenConnections()
    /// Connections of one address (IPv6: /64).
    public var maximumConnectionsPerAddress: Int
    /// Knows the addresses that may have more.
    public var trust: AddressTrust?
    /// Loopback is a proxy in front of us, or ourselves: its connections are not counted by address unless a test says so.
    public var countsLoopback = false
    /// Networks whose PROXY header and X-Forwarded-For are believed.
    public var trustedProxies: [IPNetwork] = []
    /// Put on every answer that does not have them: no page of ours is shown in another one's frame.
    public var headers: HTTPHeaders = ["X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY"]

    /// - Parameter maximumBodyLength: in bytes, the same for every request.
    public init(
        requestTimeout: Duration, idleTimeout: Duration, maximumBodyLength: Int, maximumConnections: Int,
        maximumConnectionsPerAddress: Int
    ) {
        (self.requestTimeout, self.idleTimeout) = (requestTimeout, idleTimeout)
        self.maximumBodyLength = { _ in maximumBodyLength }
        (self.maximumConnections, self.maximumConnectionsPerAddress) = (maximumConnections, maximumConnectionsPerAddress)
    }
}

/// How many connections the servers of one configuration have. Shared by their loops.
final class OpenConnections: Sendable {
    private let count = Atomic<Int>(0)

    /// Counts one more if there are fewer than that.
    func add(upTo maximum: Int) -> Bool {
        if count.add(1, ordering: .relaxed).newValue <= maximum { return true }
        remove(1)
        return false
    }

    func remove(_ number: Int) { count.subtract(number, ordering: .relaxed) }
}

/// How many connections each address has.
private struct ConnectionLimits {
    private var counts: [IPNetwork: Int] = [:]

    /// Counts one more connection unless the address has its share.
    mutating func admit(_ address: IPAddress, limit: Int) -> Bool {
        let unit = IPNetwork(countingUnit: address)
        guard counts[unit, default: 0] < limit else { return false }
        counts[unit, default: 0] += 1
        return true
    }

    mutating func release(_ address: IPAddress) {
        let unit = IPNetwork(countingUnit: address)
        guard let count = counts[unit] else { return }
        counts[unit] = count == 1 ? nil : count - 1
    }
}
