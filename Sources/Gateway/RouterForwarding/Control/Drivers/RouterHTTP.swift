/// One request to a router's control port. Values only: the client is another module's, or a test's.
public struct RouterRequest: Sendable, Equatable {
    public var method: String
    /// Absolute, from configuration or of the same origin as one that is.
    public var url: String
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]

    public init(method: String, url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
    }

    public static func == (left: Self, right: Self) -> Bool {
        left.method == right.method && left.url == right.url && left.body == right.body
            && left.headers.map { [$0.name, $0.value] } == right.headers.map { [$0.name, $0.value] }
    }
}

public struct RouterResponse: Sendable, Equatable {
    public var status: Int
    /// The `Location` header, as sent.
    public var location: String?
    public var body: [UInt8]

    public init(status: Int, location: String? = nil, body: [UInt8] = []) {
        (self.status, self.location, self.body) = (status, location, body)
    }
}

/// Requests to routers on the control loop: verified TLS, no redirects, answers of at most 256 KiB.
public protocol RouterHTTP: AnyObject {
    /// Calls `reply` exactly once, on the loop; nil when no whole answer came within `deadline`.
    func send(_ request: RouterRequest, deadline: Duration, reply: @escaping (RouterResponse?) -> Void)
}
