import EventLoop
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
    private var connections: [SocketAddress: ICEConnection] = [:]
    /// Those that leave for other workers at the end of this turn.
    private var moves: [TimerWatch] = []

    init(loop: EventLoop) { self.loop = loop }

    var isEmpty: Bool { connections.isEmpty }

    /// Takes a connection of one of our ports, unless there are too many that have shown no check.
    func accept(_ stream: TCPStream) {
        let waiting = connections.values.count {
            !$0.isAuthenticated && $0.path.remote.ip.network == stream.remoteAddress.ip.network
        }
        // A venue of encoders behind one address connects one after the other; a flood does not. And a NAT may give one port to
        // two of them, one at each of our ports: the peer's address alone tells a connection.
        guard waiting < Self.maximumWaitingPerAddress, connections.count < Self.maximumCount,
            connections[stream.remoteAddress] == nil
        else { return stream.close() }
        _ = add(stream)
    }

    /// Goes on with a connection whose session is ours.
    /// - Returns: the path by which the peer is reached.
    func resume(_ detached: DetachedConnection) -> MediaPath {
        let connection = add(TCPStream(loop: loop, resuming: detached))
        connection.authenticated()
        return connection.path
    }

    private func add(_ stream: TCPStream) -> ICEConnection {
        let path = MediaPath(remote: stream.remoteAddress, local: stream.localAddress.ip, isStream: true)
        let connection = unsafe ICEConnection(stream, loop: loop) { [unowned self] datagram in
            unsafe onDatagram(datagram, path)
        } onClosed: { [unowned self] in
            connections[path.remote] = nil
            onClosed(path)
        }
        connections[path.remote] = connection
        return connection
    }

    /// A check of a session came from there.
    func authenticate(_ path: MediaPath) { connections[path.remote]?.authenticated() }

    func send(_ datagram: UnsafeRawBufferPointer, on path: MediaPath) { unsafe connections[path.remote]?.send(datagram) }

    /// Nothing more is read here; at the end of this turn the descriptor goes to `take`, with its unread bytes.
    func move(_ path: MediaPath, _ take: @escaping (DetachedConnection) -> Void) {
        guard let connection = connections[path.remote], !connection.isMoving else { return }
        connection.isMoving = true
        moves.append(
            loop.schedule(after: .zero) { [unowned self] in
                moves.removeFirst()
                connections[path.remote] = nil
                onClosed(path)
                guard let detached = connection.detach() else { return connection.close() }
                take(detached)
            })
    }

    /// The session there has ended.
    func closeAfterFlush(_ path: MediaPath) { connections.removeValue(forKey: path.remote)?.closeAfterFlush() }

    func closeAll() {
        for connection in connections.values { connection.close() }
        connections = [:]
    }

    static let maximumWaitingPerAddress = 32
    private static let maximumCount = 4_096
}

extension MediaPort {
    /// Takes an accepted connection of the media port's TCP listener.
    public func accept(_ connection: AcceptedConnection) { adopt(TCPStream(loop: loop, accepted: connection)) }

    /// Goes on with a stream of the shared port. What it holds unconsumed is for `stream.onBytes` as it is after this call.
    public func adopt(_ stream: TCPStream) { connections.accept(stream) }
}

/// One ICE-TCP connection (RFC 6544): datagrams in frames of two length bytes (RFC 4571), told apart as on UDP.
///
/// Until its first authenticated check it has 5 s and 2 KB. Confined to the worker's loop.
@safe final class ICEConnection {
    let path: MediaPath
    private let stream: TCPStream
    private let receive: (UnsafeMutableRawBufferPointer) -> Void
    private var deadline: TimerWatch?
    private var receivedBytes = 0
    private(set) var isAuthenticated = false
    /// Goes to another worker at the end of this turn: nothing more is read here.
    var isMoving = false
    /// In-place work may touch a little more than the datagram.
    private let slot = UnsafeMutableRawBufferPointer.allocate(byteCount: maximumFrame + 64, alignment: 8)

    /// - Parameter receive: given each datagram in place.
    init(
        _ stream: TCPStream, loop: EventLoop, receive: @escaping (UnsafeMutableRawBufferPointer) -> Void,
        onClosed: @escaping () -> Void
    ) {
        unsafe (self.stream, self.receive) = unsafe (stream, receive)
        path = MediaPath(remote: stream.remoteAddress, local: stream.localAddress.ip, isStream: true)
        stream.maximumPendingWriteBytes = Self.maximumPending
        stream.onClosed = { _ in onClosed() }
        unsafe stream.onBytes = { [unowned self] in unsafe take($0) }
        deadline = loop.schedule(after: Self.patience) { [unowned self] in
            if !isAuthenticated {
                close()
                onClosed()
            }
        }
    }

    deinit {
        deadline?.cancel()
        unsafe slot.deallocate()
    }

    /// A check of a session came over it.
    func authenticated() {
        isAuthenticated = true
        stream.carriesMedia = true
        deadline?.cancel()
    }

    func send(_ datagram: UnsafeRawBufferPointer) {
        stream.write([UInt8(datagram.count >> 8 & 0xFF), UInt8(datagram.count & 0xFF)])
        unsafe stream.write(datagram)
    }

    func close() { stream.close() }
    func closeAfterFlush() { stream.closeAfterFlush() }
    func detach() -> DetachedConnection? { stream.detach() }

    /// Takes whole frames; returns how many bytes they were.
    private func take(_ bytes: UnsafeRawBufferPointer) -> Int {
        var offset = 0
        while !isMoving, !stream.isClosed, bytes.count - offset >= 2 {
            let count = unsafe Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
            guard count <= Self.maximumFrame else {
                refuse()
                return bytes.count
            }
            guard bytes.count - offset - 2 >= count else { break }
            receivedBytes += 2 + count
            if !isAuthenticated, receivedBytes > Self.maximumUnauthenticated {
                refuse()
                return bytes.count
            }
            let frame = unsafe UnsafeRawBufferPointer(rebasing: bytes[(offset + 2)..<(offset + 2 + count)])
            unsafe slot.copyMemory(from: frame)
            offset += 2 + count
            unsafe receive(UnsafeMutableRawBufferPointer(rebasing: slot[..<count]))
        }
        return offset
    }

    /// Not what belongs here: `onClosed` follows.
    private func refuse() { stream.closeAfterFlush() }

    /// As long as a UDP slot; nothing we negotiate is longer.
    static let maximumFrame = 2_048
    private static let maximumUnauthenticated = 2_048
    private static let patience: Duration = .seconds(5)
    /// Feedback only goes this way.
    private static let maximumPending = 65_536
}
