import CShim
public import EventLoop
import Glibc
public import OpenSSL
public import Wire

/// Accepts TCP connections on a loop.
public final class TCPListener {
    /// Connections the kernel completes ahead of us (it takes `somaxconn`, 4,096, at most).
    public static let backlog: CInt = 4_096
    /// Accepted in one turn; then other descriptors have their turn.
    static let maximumAcceptsPerTurn = 32
    /// How long we look away when the process has no descriptors left: the listener stays readable all that time.
    static let exhaustionPause = Duration.milliseconds(100)

    /// With the port that the kernel chose where 0 was asked for.
    public let localAddress: SocketAddress
    /// New connections get this one; a reloaded certificate is put here.
    public var tls: TLSContext?
    /// Called when the kernel refuses descriptors or memory, or to listen again (errno), at most ten times a second.
    public var onExhausted: (CInt) -> Void = { _ in }

    private let loop: EventLoop
    private let descriptor: OwnedDescriptor
    private let onAccept: (AcceptedConnection) -> Void
    private var watch: DescriptorWatch?
    private var pause: TimerWatch?

    /// Listens on a bound socket, which may be listening already.
    public init(
        loop: EventLoop, socket: BoundSocket, tls: TLSContext? = nil, onAccept: @escaping (AcceptedConnection) -> Void
    ) throws(SystemError) {
        precondition(socket.transport == .tcp, "a TCP listener is made from a TCP socket")
        (self.loop, self.tls, self.onAccept) = (loop, tls, onAccept)
        (descriptor, localAddress) = (socket.descriptor, socket.localAddress)
        // Here, because what is accepted inherits it: six system calls less for each connection.
        shim_tune_stream(descriptor.number, UInt32(TCPStream.userTimeout.milliseconds))
        if listen(descriptor.number, Self.backlog) < 0 { throw SystemError(call: "listen") }
        watch = loop.watch(descriptor: descriptor.number, for: .read) { [unowned self] in acceptWaiting() }
    }

    /// Binds a socket of its own, which shares its port with nobody.
    public convenience init(
        loop: EventLoop, address: SocketAddress, tls: TLSContext? = nil, onAccept: @escaping (AcceptedConnection) -> Void
    ) throws(SystemError) {
        try self.init(loop: loop, socket: try BoundSocket(.tcp, address), tls: tls, onAccept: onAccept)
    }

    deinit { stop() }

    /// Accepts no more; connections that wait in the kernel's queue stay there for whoever shares the descriptor.
    public func stop() {
        watch?.cancel()
        pause?.cancel()
    }

    /// Accepts nothing until `resume()`: another process that shares the descriptor does.
    public func suspend() {
        pause?.cancel()
        watch?.suspend()
    }

    /// Accepts again, at the same port, also where connections were refused meanwhile.
    public func resume() {
        guard keepsPort(), listen(descriptor.number, Self.backlog) == 0 else { return onExhausted(errno) }
        watch?.resume()
    }

    /// Takes a port back that the kernel chose, and gave up when connections were refused: `listen` would choose another one. A
    /// socket that still has its port is refused (EINVAL, below 1,024 perhaps EACCES), which is well.
    private func keepsPort() -> Bool {
        var address = localAddress.shim
        let family = shim_socket_family(descriptor.number)
        return unsafe shim_bind(descriptor.number, family, &address) == 0 || errno != EADDRINUSE
    }

    private func acceptWaiting() {
        for _ in 0..<Self.maximumAcceptsPerTurn {
            guard watch?.isActive == true else { return }  // `onAccept` may have stopped us
            var peer = shim_address()
            let number = unsafe shim_accept(descriptor.number, &peer)
            if number < 0 {
                if errno == ECONNABORTED || errno == EINTR { continue }
                if errno != EAGAIN { rest(after: errno) }
                return
            }
            accepted(OwnedDescriptor(number), from: peer)
        }
        loop.leftMore()
    }

    private func accepted(_ connection: OwnedDescriptor, from peer: shim_address) {
        guard let remote = SocketAddress(peer) else { return }
        onAccept(AcceptedConnection(descriptor: connection, remoteAddress: remote, tls: tls))
    }

    private func rest(after code: CInt) {
        watch?.suspend()
        pause = loop.schedule(after: Self.exhaustionPause) { [unowned self] in watch?.resume() }
        onExhausted(code)
    }
}

/// A TCP connection that nobody reads yet. A value, so that a worker with less to do may be given it.
public struct AcceptedConnection: Sendable {
    /// Connected, not blocking, closed on exec.
    public let descriptor: OwnedDescriptor
    /// The peer, or the proxy in front of it.
    public let remoteAddress: SocketAddress
    /// What its listener speaks; nil for plain TCP.
    public let tls: TLSContext?
    /// What it counts for among its worker's connections; whoever reads the connection keeps it as long as that is open.
    var place: ConnectionPlace?

    /// A connection that somebody else accepted, or that was handed over.
    public init(descriptor: OwnedDescriptor, remoteAddress: SocketAddress, tls: TLSContext? = nil) {
        (self.descriptor, self.remoteAddress, self.tls) = (descriptor, remoteAddress, tls)
    }
}

/// A plain connection on its way from one loop to another, with what was read of it and not consumed.
public struct DetachedConnection: Sendable {
    /// The connection itself.
    public let connection: AcceptedConnection
    let unread: [UInt8]
}
