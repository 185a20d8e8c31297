public import EventLoop
import GatewayLogging
public import OpenSSL
public import Sockets
public import Wire

/// One worker's part of the port at which HTTPS, RTMPS and ICE-TCP come in together, for networks that let nothing else out.
///
/// It holds a connection until its first bytes tell whose it is (`Introduction`), and gives that server the stream: its TLS done,
/// the balancer's header taken off, nothing lost. From there on the server's own limits and deadlines hold. Confined.
public final class SharedPort {
    /// How the wait of a connection ended, where it was not its own bytes.
    enum Ending: String, CaseIterable {
        /// It did not say what it is in time.
        case silent
        /// Too many waited, and it had waited longest.
        case displaced
        /// Its address has its share, or the balancers have theirs.
        case refused
        case handshakeFailed = "tls"
        /// The peer has gone.
        case left
    }

    /// New connections get this one; a reloaded certificate is put here.
    public var tls: TLSContext
    /// Who serves what; a kind that nobody serves is closed. Set before the loop runs.
    public var servers: [ConnectionKind: (TCPStream) -> Void] = [:]

    private let loop: EventLoop
    private let environment: SharedPortEnvironment
    private var arrivals: [UInt64: Arrival] = [:]
    private var lastNumber: UInt64 = 0
    /// Those that count under an address: all but balancers that have not said for whom they speak.
    private var unknown: UnknownConnections<UInt64>

    public init(loop: EventLoop, tls: TLSContext, environment: SharedPortEnvironment) {
        (self.loop, self.tls, self.environment) = (loop, tls, environment)
        unknown = UnknownConnections(environment.admission)
    }

    /// Connections of which it is not known what they speak.
    var waitingCount: Int { arrivals.count }

    /// Takes a connection from the port's listener.
    public func accept(_ accepted: AcceptedConnection) {
        loop.assertOnLoop()
        let isTrustedProxy = environment.trustedProxies.contains { $0.contains(accepted.remoteAddress.ip) }
        lastNumber += 1
        let arrival = Arrival(
            TCPStream(loop: loop, accepted: accepted), number: lastNumber, at: self, isTrustedProxy: isTrustedProxy)
        arrivals[lastNumber] = arrival
        guard isTrustedProxy ? hasRoom(for: arrival) : admit(arrival) else { return }
        arrival.start(on: loop, patience: environment.patience)
    }

    /// Ends all that wait.
    public func stop() {
        for arrival in arrivals.values { close(arrival) }
    }

    /// A balancer's counts for nobody until it has said for whom it speaks: what bounds it is how many wait here, of whomever.
    private func hasRoom(for arrival: Arrival) -> Bool {
        guard arrivals.count > environment.maximumUnnamed else { return true }
        end(arrival, .refused)
        return false
    }

    /// Counts a connection under its peer's address; ends it when that has its share.
    func admit(_ arrival: Arrival) -> Bool {
        guard case .admitted(let displaced) = unknown.admit(arrival.number, from: arrival.stream.remoteAddress.ip) else {
            end(arrival, .refused)
            return false
        }
        if let displaced, let oldest = arrivals[displaced] { end(oldest, .displaced) }
        return true
    }

    /// Gives the stream to its server.
    func hand(_ arrival: Arrival, to kind: ConnectionKind) {
        forget(arrival)
        guard let serve = servers[kind] else { return end(arrival, Introduction.Fault.unknown) }
        environment.metrics.countHanded(kind)
        arrival.release()
        serve(arrival.stream)
    }

    func end(_ arrival: Arrival, _ fault: Introduction.Fault) { end(arrival, because: fault.rawValue) }
    func end(_ arrival: Arrival, _ ending: Ending) { end(arrival, because: ending.rawValue) }

    /// The stream has ended by itself.
    func ended(_ arrival: Arrival, _ closure: StreamClosure) {
        switch closure {
        case .tlsFailed, .tlsHandshakeTimedOut: end(arrival, .handshakeFailed)
        default: end(arrival, .left)
        }
    }

    private func end(_ arrival: Arrival, because reason: String) {
        environment.metrics.countClosed(reason)
        Log.strangerEvent(
            .info, "shared_connection_closed",
            ["source": .address(arrival.stream.remoteAddress), "reason": .string(reason)])
        close(arrival)
    }

    private func close(_ arrival: Arrival) {
        forget(arrival)
        arrival.release()
        arrival.stream.close()
    }

    private func forget(_ arrival: Arrival) {
        arrivals[arrival.number] = nil
        unknown.leave(arrival.number)
    }
}

/// What all workers' parts of the shared port have in common.
public struct SharedPortEnvironment: Sendable {
    /// Balancers that may speak for others by a PROXY protocol header, version 2.
    let trustedProxies: [IPNetwork]
    /// Counts those that wait.
    let admission: ConnectionAdmission
    /// From accepting until it is known whose a connection is, TLS included.
    let patience: Duration
    /// Connections that wait at one worker beyond which no balancer's is taken.
    let maximumUnnamed: Int
    let metrics: SharedPortMetrics

    public init(
        trustedProxies: [IPNetwork], admission: ConnectionAdmission, patience: Duration, maximumUnnamed: Int = 8_192,
        metrics: SharedPortMetrics
    ) {
        (self.trustedProxies, self.admission, self.patience, self.metrics) = (trustedProxies, admission, patience, metrics)
        self.maximumUnnamed = maximumUnnamed
    }
}
