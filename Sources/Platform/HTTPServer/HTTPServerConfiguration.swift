public import HTTP
public import Sockets
public import Wire

/// What an HTTP server grants its clients.
public struct HTTPServerConfiguration: Sendable {
    public var limits = HTTPLimits.standard
    /// The greatest body in bytes; asked when the head is known, so that too large a body is refused before it is read.
    public var maximumBodyLength: @Sendable (HTTPRequest) -> Int = { _ in 64 * 1024 }
    /// From a connection's, then from a request's first byte to its last: absolute, so that dribbling wins nothing.
    public var requestTimeout = Duration.seconds(10)
    /// Between requests, and for a client to take an answer.
    public var idleTimeout = Duration.seconds(60)
    /// From a request's last byte to the handler's answer; then the client is told 503.
    public var answerTimeout = Duration.seconds(30)
    public var maximumConnections = 2000
    /// Connections of one address (IPv6: /64).
    public var maximumConnectionsPerAddress = 64
    /// Knows the addresses that may have more.
    public var trust: AddressTrust?
    /// Loopback is a proxy in front of us, or ourselves: its connections are not counted by address unless a test says so.
    public var countsLoopback = false
    /// Networks whose PROXY header and X-Forwarded-For are believed.
    public var trustedProxies: [IPNetwork] = []
    /// Put on every answer that does not have them: no page of ours is shown in another one's frame.
    public var headers: HTTPHeaders = ["X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY"]

    public init() {}
}
