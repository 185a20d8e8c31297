public import EventLoop
import Glibc
public import Sockets
public import Wire

/// Why the node does not start, in words for whoever typed the command.
public enum StartupError: Error, CustomStringConvertible {
    case cannotListen(key: String, address: SocketAddress, transport: BoundSocket.Transport, reason: SystemError)
    case router(String)
    case certificate(String)
    case advertise(String)
    case worker(String)
    case store
    /// What makes this node one of several.
    case cluster(String)
    /// Another program was to take our place and did not start.
    case successor(String)
    /// A socket that systemd hands in under this name.
    case activation(String)
    /// Neither one of its sockets under this name nor one for each worker.
    case activationCount(String, given: Int, workers: Int)
    /// Others than this machine's would reach an admin listener that asks nobody who it is.
    case openAdmin(SocketAddress)

    public var description: String {
        switch self {
        case .cannotListen(let key, let address, let transport, let reason):
            "\(key): cannot listen on \(address) (\(transport)): \(reason)" + Self.holder(of: address, transport, reason)
        case .router(let text), .certificate(let text), .advertise(let text), .successor(let text),
            .cluster(let text):
            text
        case .activation(let name):
            "LISTEN_FDNAMES: “\(name)” is none of \(SocketActivation.names.keys.sorted().joined(separator: ", ")), or no open socket"
        case .activationCount(let name, let given, let workers):
            "LISTEN_FDNAMES: \(given) sockets are “\(name)” and there are \(workers) workers (workers.count): give one for each, or one alone"
        case .openAdmin(let address):
            "admin.auth: none is for a loopback socket only, and the one that was given is \(address): expected sigv4"
        case .store: "the store did not run its seeding transaction"
        case .worker(let text): "a worker could not start: \(text)"
        }
    }

    /// Who has the port, where that is the reason.
    private static func holder(of address: SocketAddress, _ transport: BoundSocket.Transport, _ reason: SystemError) -> String {
        guard reason.code == EADDRINUSE, let holder = PortHolder.describe(transport, port: address.port) else { return "" }
        return "; held by \(holder)"
    }
}
