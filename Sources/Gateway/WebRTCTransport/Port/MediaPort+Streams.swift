import EventLoop
public import Sockets
import Wire

/// ICE-TCP on the port number of the UDP socket (RFC 6544, docs/design.md 4.3).
extension MediaPort {
    /// Takes an accepted connection of the media port's TCP listener.
    public func accept(_ connection: AcceptedConnection) {
        let waiting = connections.values.count {
            !$0.isAuthenticated && $0.path.remote.ip.network == connection.remoteAddress.ip.network
        }
        // A venue of encoders behind one address connects one after the other; a flood does not.
        guard waiting < Self.maximumWaitingPerAddress, connections.count < Self.maximumConnections else { return }
        adopt(TCPStream(loop: loop, accepted: connection))
    }

    /// Goes on with a connection whose session is ours.
    func adopt(_ detached: DetachedConnection, of entry: any TransportEntry) {
        // The session may have ended while its connection was on the way, which closes with its descriptor.
        guard let session = sessions[ObjectIdentifier(entry)], let credentials = entry.transport.newestCredentials else { return }
        let connection = adopt(TCPStream(loop: loop, resuming: detached))
        connection.authenticated()
        let member = TupleMember(
            entry, session: session, ufrag: credentials.ufrag, password: credentials.password, now: loop.now)
        _ = tuples.note(member, on: connection.path)
        startRounds()
        session.tupleValidated(connection.path, at: loop.now)
    }

    @discardableResult
    private func adopt(_ stream: TCPStream) -> ICEConnection {
        let path = MediaPath(remote: stream.remoteAddress, local: stream.localAddress.ip, isStream: true)
        let connection = ICEConnection(stream, loop: loop) { [unowned self] datagram in
            receive(datagram, on: path, at: loop.now)
            endBatch()
        } onClosed: { [unowned self] in
            connections[path.remote] = nil
            tuples.remove(path.key)
        }
        connections[path.remote] = connection
        return connection
    }

    /// The session of this connection lives on another worker: the descriptor goes there, with its unread bytes.
    func move(_ path: MediaPath, of entry: any TransportEntry, to worker: Int) {
        // One that others are on as well stays with them.
        guard let connection = connections[path.remote], !connection.isMoving, tuples.find(path.key)?.others.isEmpty == true
        else { return }
        connection.isMoving = true
        moves.append(
            loop.schedule(after: .zero) { [unowned self] in
                moves.removeFirst()
                connections[path.remote] = nil
                tuples.remove(path.key)
                guard let detached = connection.detach() else { return connection.close() }
                plane.send(.connection(entry, detached), to: worker)
            })
    }

    static let maximumWaitingPerAddress = 32
    static let maximumConnections = 4_096
}
