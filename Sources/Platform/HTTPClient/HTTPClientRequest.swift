/// One outbound request. URLs come from configuration only; nothing that a peer names is ever fetched.
public struct HTTPClientRequest: Sendable {
    public var method: String
    /// `http://` or `https://`; other schemes are refused.
    public var url: String
    public var headers: [(name: String, value: String)]
    public var body: [UInt8]
    /// From now to the last byte of the answer, resolving and TLS included.
    public var deadline = Duration.seconds(5)
    /// A longer answer fails the request.
    public var maximumBodyLength = 256 * 1024
    public var tls = HTTPClientTLS()

    public init(method: String, url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
    }
}

/// Whom a client trusts and what it shows. Certificates are always verified; there is no way around it.
public struct HTTPClientTLS: Sendable, Equatable {
    /// PEM file of authorities; empty takes the system's.
    public var certificateAuthority = ""
    /// PEM files of our own certificate and key, for mutual TLS; empty shows none.
    public var certificate = ""
    public var privateKey = ""

    public init() {}
}

/// A whole answer. Redirects are answers too: they are never followed.
public struct HTTPClientResponse: Sendable {
    public var status: Int
    /// Names in lower case, in the order of arrival.
    public var headers: [(name: String, value: String)] = []
    public var body: [UInt8] = []

    public subscript(name: String) -> String? { headers.first { $0.name == name.lowercased() }?.value }
}

/// Why no whole answer came.
public enum HTTPClientError: Error, Equatable, Sendable {
    /// The URL, or a file it needs, is not usable.
    case invalidRequest(String)
    case timedOut
    case tooLong
    /// The peer's certificate is not trusted.
    case untrusted(String)
    case failed(String)
    /// Beyond `HTTPClient.maximumRequests` at once.
    case overloaded
}
