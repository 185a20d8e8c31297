import HTTPClient
import RouterForwarding

/// The announce protocol's and Janus's way out: one HTTP client on the control loop, with what a router's entry says of TLS.
final class RouterHTTPClient: RouterHTTP {
    private let client: HTTPClient
    private let tls: HTTPClientTLS

    init(_ client: HTTPClient, tls: HTTPClientTLS) { (self.client, self.tls) = (client, tls) }

    func send(_ request: RouterRequest, deadline: Duration, reply: @escaping (RouterResponse?) -> Void) {
        var outgoing = HTTPClientRequest(
            method: request.method, url: request.url, headers: request.headers, body: request.body)
        (outgoing.deadline, outgoing.tls) = (deadline, tls)
        client.send(outgoing) { result in
            guard case .success(let response) = result else { return reply(nil) }
            reply(RouterResponse(status: response.status, location: response["location"], body: response.body))
        }
    }
}
