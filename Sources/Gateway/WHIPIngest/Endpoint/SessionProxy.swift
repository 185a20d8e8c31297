public import EventLoop
import HTTP
public import HTTPClient
import Refusals
import WebRTCTransport
public import Wire

/// What a node does for WHIP requests that are another node's: those of a session go there and their answer comes back; a POST
/// is sent on. Confined to its loop.
public final class SessionProxy {
    private let client: HTTPClient
    private let tls: HTTPClientTLS
    private let directory: any NeighbourDirectory
    private let key: Secret

    /// - Parameter key: what all nodes have, and nobody else.
    public init(loop: EventLoop, directory: any NeighbourDirectory, key: Secret, tls: HTTPClientTLS = HTTPClientTLS()) {
        (client, self.directory, self.key, self.tls) = (HTTPClient(loop: loop), directory, key, tls)
    }

    /// A request that a node has passed on comes from whoever sent it there; anybody else's word for that counts nothing.
    func asTheEncoderSent(_ request: HTTPRequest, now: WallTime) -> HTTPRequest {
        guard let value = request.headers[Self.hopHeader], let hop = NodeHop(value), hop.isGenuine(request, key: key, now: now)
        else { return request }
        var request = request
        request.source = hop.source
        return request
    }

    /// Has a request for a session answered by the node that made it, later on this loop.
    ///
    /// The node's name comes with the request, but its address from the directory alone.
    /// - Returns: false when that node is not alive, or the request has come from another node; then `respond` is not called.
    func pass(
        _ request: HTTPRequest, _ id: String, toNode node: String, _ respond: @escaping (HTTPResponse) -> Void
    ) -> Bool {
        guard !request.headers.contains(Self.hopHeader), let address = directory.address(ofNode: node) else { return false }
        let path = WHIPResource.sessionPrefix + id
        let hop = NodeHop(passing: request.method, path, from: request.source, key: key, now: EventLoop.wallNow())
        var passed = HTTPClientRequest(method: request.method.rawValue, url: address + path, body: request.body)
        for name in ["Authorization", "Content-Type", "If-Match", "Origin", "User-Agent"] {
            if let value = request.headers[name] { passed.headers.append((name, value)) }
        }
        passed.headers.append((Self.hopHeader, hop.value))
        (passed.deadline, passed.tls) = (Self.deadline, tls)
        client.send(passed) { respond(Self.response($0)) }
        return true
    }

    private static func response(_ result: Result<HTTPClientResponse, HTTPClientError>) -> HTTPResponse {
        guard case .success(let answer) = result else {
            return Refusal(.sessionOutOfReach).response()
        }
        var response = HTTPResponse(HTTPStatus(answer.status), body: answer.body)
        for (name, value) in answer.headers where !hopByHop.contains(name) { response.headers.add(name, value) }
        return response
    }

    /// Where an encoder shall post, if it keeps its token on the way: browsers drop it toward other origins, and name theirs.
    func redirection(of request: HTTPRequest) -> HTTPResponse? {
        let isMarked = request.queryItems.items.contains { $0.name == Self.hopItem }
        guard !isMarked, !request.headers.contains("Origin"),
            let endpoint = directory.betterEndpoint(isSecure: request.isSecure)
        else { return nil }
        let location = "\(endpoint)\(endpoint.contains("?") ? "&" : "?")\(Self.hopItem)=1"
        return HTTPResponse(307, headers: ["Location": location, "Cache-Control": "no-store"])
    }

    /// Marks the URL to which a POST was sent on: it is sent on no further.
    private static let hopItem = "hop"
    /// Marks a request that another node passed on (`NodeHop`): it is passed on no further.
    static let hopHeader = "Stagedoor-Hop"
    /// Time for the other node's answer; encoders wait longer.
    private static let deadline = Duration.seconds(3)
    /// Of the connection, not of the answer (RFC 9110 §7.6.1).
    private static let hopByHop: Set = ["connection", "keep-alive", "transfer-encoding", "content-length", "date", "upgrade"]
}

/// The other nodes of the platform, as they said last. For any thread; never waits.
public protocol NeighbourDirectory: Sendable {
    /// Where a node answers other nodes: `http://10.0.0.2:8080`; nil when none of that name is alive.
    func address(ofNode node: String) -> String?
    /// The WHIP endpoint of a node that takes a publish which this one would refuse or cut short; nil: it is answered here.
    /// - Parameter isSecure: whether the token came over TLS, and may go over nothing less.
    func betterEndpoint(isSecure: Bool) -> String?
}
