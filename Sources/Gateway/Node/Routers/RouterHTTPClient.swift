import GatewayLogging
import HTTPClient
import RouterForwarding

/// The announce protocol's and Janus's way out: one HTTP client on the control loop, with what a router's entry says of TLS.
final class RouterHTTPClient: RouterHTTP {
    private let client: HTTPClient
    private let tls: HTTPClientTLS
    private let router: String
    /// Why the last request failed: told once, until another reason comes or a request succeeds.
    private var fault: HTTPClientError?

    /// - Parameter router: its name in the configuration, for the log.
    init(_ client: HTTPClient, tls: HTTPClientTLS, router: String) {
        (self.client, self.tls, self.router) = (client, tls, router)
    }

    func send(_ request: RouterRequest, deadline: Duration, reply: @escaping (RouterResponse?) -> Void) {
        var outgoing = HTTPClientRequest(
            method: request.method, url: request.url, headers: request.headers, body: request.body)
        (outgoing.deadline, outgoing.tls) = (deadline, tls)
        client.send(outgoing) { [weak self] result in
            switch result {
            case .success(let response):
                self?.fault = nil
                reply(RouterResponse(status: response.status, location: response["location"], body: response.body))
            case .failure(let fault):
                self?.note(fault)
                reply(nil)
            }
        }
    }

    private func note(_ fault: HTTPClientError) {
        guard fault != self.fault else { return }
        self.fault = fault
        Log.event(.warning, "router_request_failed", ["router": .string(router), "reason": .string(fault.words)])
    }
}

extension HTTPClientError {
    fileprivate var words: String {
        switch self {
        case .invalidRequest(let what): "the request cannot be sent: \(what)"
        case .timedOut: "no whole answer in time"
        case .tooLong: "the answer is too long"
        case .untrusted(let what): "its certificate is not trusted: \(what)"
        case .failed(let what): what
        case .overloaded: "too many requests at once"
        }
    }
}
