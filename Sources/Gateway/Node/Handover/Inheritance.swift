import DataDirectory
import GatewayLogging
import Handover
public import Settings
import Sockets

/// What a process starts with that takes a running one's place: everything that may not be there twice.
public struct Inheritance {
    let succession: Succession

    /// Nil when nobody runs on the directory: then there is no place to take, and the start is an ordinary one.
    public static func claim(_ configuration: StagedoorConfiguration) throws -> Inheritance? {
        guard !configuration.cluster.isConfigured else {
            throw StartupError.cluster(
                "--take-over is not for a node of a cluster: drain it (SIGTERM), the other nodes serve meanwhile")
        }
        do {
            return Inheritance(succession: try Succession(directory: configuration.store.directory))
        } catch HandoverError.nobody {
            return nil
        }
    }

    /// Of this process's sessions: the next one.
    var generation: UInt8 { (succession.offer.generation + 1) % 64 }

    /// The sockets of one listener, in the order of workers; nil when there are none.
    func sockets(_ kind: SocketRole.Kind) -> GivenSockets? {
        let sockets = succession.sockets.filter { $0.key.kind == kind }.sorted { $0.key.worker < $1.key.worker }
        return GivenSockets(kind, sockets.map(\.value), areBinding: succession.offer.activated?.contains(kind) ?? false)
    }

    /// The way to the sessions of the running process's worker of that number.
    func datagrams(worker: Int) -> OwnedDescriptor? { succession.sockets[SocketRole(.datagrams, worker: worker)] }

    /// Has connections to listeners that are not ours refused, once the running process accepts none. It listens again when it
    /// takes its place back, unless it is too old to tell of `activated`. At systemd's sockets clients wait.
    func leave(_ unused: [SocketRole: OwnedDescriptor]) {
        for (role, descriptor) in unused {
            if let activated = succession.offer.activated, !activated.contains(role.kind) { descriptor.refuseConnections() }
            succession.close(role)
        }
    }

    func openDirectory(at path: String) throws -> DataDirectory {
        guard let lock = succession.sockets[SocketRole(.lock)] else { throw HandoverError.unexpected }
        return try DataDirectory(at: path, sharing: lock.number)
    }
}
