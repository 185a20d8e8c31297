import GatewayLogging
public import HTTPClient
public import Wire

/// One request to a router's control port.
public struct RouterRequest: Sendable {
    public var method: String
    /// Absolute, from configuration or of the same origin as one that is.
    public var url: String
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]
    /// Goes before all that wait for their turn: a health check or a lease, which may not come late.
    public var isUrgent: Bool

    public init(
        method: String, url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = [], isUrgent: Bool = false
    ) {
        (self.method, self.url, self.headers, self.body, self.isUrgent) = (method, url, headers, body, isUrgent)
    }
}

/// What the router answered, whole.
public struct RouterResponse: Sendable {
    public var status: Int
    /// The `Location` header, as sent.
    public var location: String?
    public var body: [UInt8]
    /// From which it came, where that is known.
    public var address: IPAddress?
    /// Of ours, to which it came, where that is known.
    public var ownAddress: IPAddress?

    public init(
        status: Int, location: String? = nil, body: [UInt8] = [], address: IPAddress? = nil, ownAddress: IPAddress? = nil
    ) {
        (self.status, self.location, self.body) = (status, location, body)
        (self.address, self.ownAddress) = (address, ownAddress)
    }
}

/// Requests to routers on the control loop: verified TLS, no redirects, answers of at most 256 KiB.
public protocol RouterHTTP: AnyObject {
    /// Calls `reply` exactly once, on the loop; nil when no whole answer came within `deadline`.
    func send(_ request: RouterRequest, deadline: Duration, reply: @escaping (RouterResponse?) -> Void)
}

/// Requests to one router, on the control loop, with what the router's entry says of TLS.
public final class RouterHTTPClient: RouterHTTP {
    private let line: RequestLine
    private let tls: HTTPClientTLS
    private let router: String
    /// Why a request failed: logged once, until another reason comes or a health check is good.
    private(set) var fault: String?

    /// - Parameters:
    ///   - client: has no requests but those to this router.
    ///   - router: its name in the configuration, for the log.
    public init(_ client: HTTPClient, tls: HTTPClientTLS = HTTPClientTLS(), router: String) {
        (line, self.tls, self.router) = (RequestLine(client), tls, router)
    }

    public func send(_ request: RouterRequest, deadline: Duration, reply: @escaping (RouterResponse?) -> Void) {
        var outgoing = HTTPClientRequest(
            method: request.method, url: request.url, headers: request.headers, body: request.body)
        (outgoing.deadline, outgoing.tls) = (deadline, tls)
        let isHealthCheck = request.method == "GET"
        line.send(outgoing, goesFirst: request.isUrgent) { [weak self] result in
            self?.note(result.fault(ofHealthCheck: isHealthCheck), ofHealthCheck: isHealthCheck)
            reply((try? result.get()).map { RouterResponse($0) })
        }
    }

    /// A router that refuses health checks alone, to get no new stages, takes leases in between.
    private func note(_ fault: String?, ofHealthCheck isHealthCheck: Bool) {
        guard fault != self.fault, fault != nil || isHealthCheck else { return }
        self.fault = fault
        guard let fault else { return }
        Log.event(.warning, "router_request_failed", ["router": .string(router), "reason": .string(fault)])
    }
}

extension RouterResponse {
    fileprivate init(_ response: HTTPClientResponse) {
        self.init(
            status: response.status, location: response["location"], body: response.body, address: response.address,
            ownAddress: response.ownAddress)
    }
}

extension Result<HTTPClientResponse, HTTPClientError> {
    /// What a status means is for whoever asked to say; of a health check nobody would hear more than that the router is dead.
    fileprivate func fault(ofHealthCheck isHealthCheck: Bool) -> String? {
        switch self {
        case .failure(let error): error.words
        case .success(let response) where isHealthCheck && !(200...299).contains(response.status):
            "its health check is answered by \(response.status)"
        case .success: nil
        }
    }
}
