public import HTTP
public import Sockets
import Synchronization
public import Wire

/// What an HTTP server grants its clients. Values without a default here are the operator's to say (`Settings`).
public struct HTTPServerConfiguration: Sendable {
    /// The greatest body in bytes; too large a one is refused before it is read, where its length is said.
    public var maximumBodyLength: Int
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
    /// Networks whose PROXY header and X-Forwarded-* are believed.
    public var trustedProxies: [IPNetwork] = []
    /// Put on every answer that does not have them: no page of ours is shown in another one's frame.
    public var headers: HTTPHeaders = ["X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY"]

    public init(
        requestTimeout: Duration, idleTimeout: Duration, maximumBodyLength: Int, maximumConnections: Int,
        maximumConnectionsPerAddress: Int
    ) {
        (self.requestTimeout, self.idleTimeout, self.maximumBodyLength) = (requestTimeout, idleTimeout, maximumBodyLength)
        (self.maximumConnections, self.maximumConnectionsPerAddress) = (maximumConnections, maximumConnectionsPerAddress)
    }

    /// Whether the address has a share of the connections at all.
    func counts(_ address: IPAddress) -> Bool { !address.isLoopback || countsLoopback }

    /// How many connections the address may have.
    func share(of address: IPAddress, at now: MonotonicTime) -> Int {
        trust?.allowance(maximumConnectionsPerAddress, for: address, at: now) ?? maximumConnectionsPerAddress
    }

    func isTrustedProxy(_ address: IPAddress) -> Bool { trustedProxies.contains { $0.contains(address) } }

    /// With the fields that every answer has.
    func completed(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        for field in headers.fields where !response.headers.contains(field.name) {
            response.headers.add(field.name, field.value)
        }
        return response
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
