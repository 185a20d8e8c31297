public import EventLoop
import GatewayMetrics
public import HTTP
public import OpenSSL
public import Sockets
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
    private var connections = ServerConnections()
    private var shares = AddressShares()
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
        for connection in connections.all {
            connection.exchange?.abandon()
            connection.eventStream?.abandon()
        }
    }

    /// Open connections, idle ones too.
    public var connectionCount: Int { connections.count }

    /// Serves connections to a bound socket.
    /// - Parameter tls: speaks TLS, after the PROXY header if there is one; who speaks HTTP in the clear is told so.
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
        let plain = AcceptedConnection(descriptor: accepted.descriptor, remoteAddress: accepted.remoteAddress)
        let stream = TCPStream(loop: loop, accepted: plain)
        serve(stream, tls: tls, mayBeginWithProxyHeader: configuration.isTrustedProxy(stream.remoteAddress.ip))
    }

    /// Goes on with a stream that somebody else has begun to read: its TLS is done, and no PROXY header comes any more.
    ///
    /// What the stream holds unconsumed is for `stream.onBytes` as it is after this call.
    public func adopt(_ stream: TCPStream) { serve(stream, tls: nil, mayBeginWithProxyHeader: false) }

    private func serve(_ stream: TCPStream, tls: TLSContext?, mayBeginWithProxyHeader: Bool) {
        loop.assertOnLoop()
        let peer = configuration.isTrustedProxy(stream.remoteAddress.ip) ? nil : stream.remoteAddress.ip
        guard !isDraining, peer.map(admit) ?? true else { return refuse(stream) }
        // Last: nobody is to make way for a connection that is refused after all.
        guard makeRoom() else {
            if let peer { release(peer) }
            return refuse(stream)
        }
        count(\.accepted)
        let connection = HTTPConnection(
            server: self, number: connections.nextNumber(), stream: stream, tls: tls, countedAddress: peer,
            mayBeginWithProxyHeader: mayBeginWithProxyHeader)
        connections.add(connection)
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
        for connection in connections.all { connection.drain() }
        if connections.isEmpty { finishDraining() }
    }
}

// MARK: - Giving the listeners to another process, and taking them back

extension HTTPServer {
    /// Leaves new connections to whoever shares the listeners' descriptors, closes idle ones, and the others after their answer.
    public func suspend() {
        isDraining = true
        for listener in listeners { listener.socket.suspend() }
        for connection in connections.all { connection.drain() }
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
        connections.forgetFormerNewcomers()
        if total.add(upTo: configuration.maximumConnections) { return true }
        if let newcomer = connections.takeOldestNewcomer() {
            count(\.displaced)
            newcomer.close()
        } else {
            connections.longestIdle?.close()
        }
        return total.add(upTo: configuration.maximumConnections)
    }

    /// Counts a connection of the address; false when it has its share.
    func admit(_ address: IPAddress) -> Bool {
        guard configuration.counts(address) else { return true }
        let limit = configuration.share(of: address, at: loop.now)
        return shares.take(address, limit: limit)
    }

    private func release(_ address: IPAddress) {
        if configuration.counts(address) { shares.giveBack(address) }
    }

    func remove(_ connection: HTTPConnection) {
        guard connections.remove(connection) != nil else { return }
        total.remove(1)
        if let counted = connection.countedAddress { release(counted) }
        if isDraining, connections.isEmpty { finishDraining() }
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
