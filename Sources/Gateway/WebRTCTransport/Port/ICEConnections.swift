import EventLoop
import GatewayMetrics
public import Sockets
import Wire

/// One worker's ICE-TCP connections, on the port number of the UDP socket and on the shared port (RFC 6544, docs/design.md 4.3).
/// Confined to its loop.
@safe final class ICEConnections {
    /// Given each datagram where it lies.
    var onDatagram: (UnsafeMutableRawBufferPointer, MediaPath) -> Void = { _, _ in }
    /// A connection is gone, and nobody can be reached by its path.
    var onClosed: (MediaPath) -> Void = { _ in }

    private let loop: EventLoop
    /// Those without a check.
    private var strangers: UnknownConnections<SocketAddress>
    private let metrics: TransportMetrics
    private(set) var connections: [SocketAddress: ICEConnection] = [:]
    /// Those that leave for other workers at the end of this turn.
    private var moves: [TimerWatch] = []
    /// The datagram that is being sent, behind its length.
    private let frame = UnsafeMutableRawBufferPointer.allocate(
        byteCount: 2 + PeerTransport.maximumDatagramByteCount, alignment: 8)

    /// - Parameter strangers: counts those without a check, of all workers.
    init(loop: EventLoop, strangers: ConnectionAdmission, metrics: TransportMetrics) {
        (self.loop, self.strangers, self.metrics) = (loop, UnknownConnections(strangers), metrics)
    }

    deinit { unsafe frame.deallocate() }

    var isEmpty: Bool { connections.isEmpty }

    /// Takes a connection of one of our ports. When too many have shown no check, the oldest of them makes room; from an address
    /// that has its share already, the newcomer is refused.
    func accept(_ stream: TCPStream) {
        // A NAT may give one port to two encoders, one at each of our ports: the peer's address alone tells a connection.
        guard connections[stream.remoteAddress] == nil, connections.count < Self.maximumCount || displaceOldest() else {
            return refuse(stream)
        }
        guard case .admitted(let displaced) = strangers.admit(stream.remoteAddress, from: stream.remoteAddress.ip) else {
            return refuse(stream)
        }
        if let displaced { displace(displaced) }
        add(stream)
    }

    private func refuse(_ stream: TCPStream) {
        metrics.refusedStreams.increment()
        stream.close()
    }

    /// - Returns: false when all of ours have shown a check.
    private func displaceOldest() -> Bool {
        guard let oldest = strangers.oldest else { return false }
        displace(oldest)
        return true
    }

    private func displace(_ remote: SocketAddress) {
        guard let connection = connections[remote] else { return }
        metrics.displacedStreams.increment()
        connection.close()
        forget(connection.path)
        onClosed(connection.path)
    }

    @discardableResult
    private func forget(_ path: MediaPath) -> ICEConnection? {
        strangers.leave(path.remote)
        return connections.removeValue(forKey: path.remote)
    }

    /// Goes on with a connection whose session is ours.
    /// - Returns: the path by which the peer is reached; nil where we have one of the same peer's address, as in `accept`.
    func resume(_ detached: DetachedConnection) -> MediaPath? {
        let stream = TCPStream(loop: loop, resuming: detached)
        guard connections[stream.remoteAddress] == nil else {
            refuse(stream)
            return nil
        }
        let connection = add(stream)
        connection.authenticated()
        return connection.path
    }

    @discardableResult
    private func add(_ stream: TCPStream) -> ICEConnection {
        let path = MediaPath(remote: stream.remoteAddress, local: stream.localAddress.ip, isStream: true)
        let connection = unsafe ICEConnection(stream, loop: loop) { [unowned self] datagram in
            unsafe onDatagram(datagram, path)
        } onClosed: { [unowned self] in
            forget(path)
            onClosed(path)
        }
        connections[path.remote] = connection
        return connection
    }

    /// A check of a session came from there.
    func authenticate(_ path: MediaPath) {
        guard let connection = connections[path.remote] else { return }
        connection.authenticated()
        strangers.leave(path.remote)
    }

    /// Sends a datagram whole (RFC 4571 §2), or not at all where too much waits already.
    func send(_ datagram: UnsafeRawBufferPointer, on path: MediaPath) {
        guard let connection = connections[path.remote], datagram.count <= PeerTransport.maximumDatagramByteCount else { return }
        unsafe frame[0] = UInt8(datagram.count >> 8)
        unsafe frame[1] = UInt8(datagram.count & 0xFF)
        unsafe UnsafeMutableRawBufferPointer(rebasing: frame[2...]).copyMemory(from: datagram)
        unsafe connection.send(UnsafeRawBufferPointer(rebasing: frame[..<(2 + datagram.count)]))
    }

    /// Nothing more is read here; at the end of this turn the descriptor goes to `take`, with its unread bytes.
    func move(_ path: MediaPath, _ take: @escaping (DetachedConnection) -> Void) {
        guard let connection = connections[path.remote], !connection.isMoving else { return }
        connection.isMoving = true
        moves.append(
            loop.schedule(after: .zero) { [unowned self] in
                moves.removeFirst()
                forget(path)
                onClosed(path)
                guard let detached = connection.detach() else { return connection.close() }
                take(detached)
            })
    }

    /// The session there has ended.
    func closeAfterFlush(_ path: MediaPath) { forget(path)?.closeAfterFlush() }

    /// Its session has others in its place. Nothing is flushed: with one token a client may open and leave thousands a second.
    func abandon(_ path: MediaPath) {
        guard path.isStream, connections[path.remote]?.isMoving == false else { return }
        forget(path)?.close()
    }

    /// Closes those that have shown a check and lead to no session any more: no deadline of theirs would.
    func sweep(isUsed: (MediaPath) -> Bool) {
        let left = connections.values.filter { $0.isAuthenticated && !$0.isMoving && !isUsed($0.path) }
        for connection in left { closeAfterFlush(connection.path) }
    }

    func closeAll() {
        for connection in Array(connections.values) {
            connection.close()
            forget(connection.path)
        }
    }

    private static let maximumCount = 4_096
}

extension MediaPort {
    /// Takes an accepted connection of the media port's TCP listener.
    public func accept(_ connection: AcceptedConnection) { adopt(TCPStream(loop: loop, accepted: connection)) }

    /// Goes on with a stream of the shared port. What it holds unconsumed is for `stream.onBytes` as it is after this call.
    public func adopt(_ stream: TCPStream) { connections.accept(stream) }
}
