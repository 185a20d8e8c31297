public import EventLoop
public import Wire

/// Why there is no connection to a server, for people. Holds no secret.
public enum RedisFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// Nothing was tried yet.
    case starting
    /// Nobody knows the names, or no sentinel knows the primary.
    case notFound(String)
    case noSocket(SystemError)
    case connectTimedOut(SocketAddress)
    case ended(SocketAddress, RedisConnectionEnd)
    /// The server refuses us: a wrong password, a missing permission.
    case refused(SocketAddress, RedisRefusal)
    /// It answered something that no server answers.
    case greetingFailed(SocketAddress)
    case loading(SocketAddress)
    /// It is a replica, or has become one.
    case notPrimary(SocketAddress)
    /// The server is out of use: these are the ones now.
    case replaced([RedisEndpoint])
    /// A cluster's node does not know all primaries, or not the right ones.
    case clusterIncomplete(SocketAddress)
    /// `close()` was called.
    case closed

    /// One line for the log and the overview.
    public var description: String {
        switch self {
        case .starting: "not connected yet"
        case .notFound(let what): "\(what) not found"
        case .noSocket(let error): "\(error)"
        case .connectTimedOut(let address): "\(address) does not answer"
        case .ended(let address, .silent): "\(address) stopped answering"
        case .ended(let address, .malformed(let error)): "\(address) does not speak Redis: \(error)"
        case .ended(let address, .closed(let closure)): "no connection to \(address): \(closure)"
        case .refused(let address, let refusal): "\(address) says: \(refusal)"
        case .greetingFailed(let address): "\(address) does not say what it is"
        case .loading(let address): "\(address) is loading its data"
        case .notPrimary(let address): "\(address) is not the primary"
        case .replaced(let servers): "replaced by \(servers.map(\.description).joined(separator: ", "))"
        case .clusterIncomplete(let address): "\(address) knows no working cluster"
        case .closed: "closed"
        }
    }
}
