/// One outbound request. URLs come from configuration only; nothing that a peer names is ever fetched.
public struct HTTPClientRequest: Sendable {
    /// `GET`, `POST`, …, in capitals.
    public var method: String
    /// `http://` or `https://`; other schemes are refused.
    public var url: String
    /// Sent in this order, beside those that the transfer itself needs.
    public var headers: [(name: String, value: String)]
    /// What is sent; empty for none.
    public var body: [UInt8]
    /// A file that is sent in the place of `body`, as long as it is now, without being read whole.
    public var bodyFile: HTTPBodyFile?
    /// From now to the last byte of the answer, resolving and TLS included.
    public var deadline = Duration.seconds(5)
    /// So many bytes a second have to come or be taken, and a connection to be there within that time; else the request fails
    /// before its deadline. Nil: all may be as slow as that allows.
    public var pace: (bytesPerSecond: Int, within: Duration)?
    /// A longer answer fails the request.
    public var maximumBodyLength = 256 * 1024
    /// Whom to trust and what to show, for `https`.
    public var tls = HTTPClientTLS()

    /// A request with the usual limits.
    public init(method: String, url: String, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
    }
}

/// A file as the body of a request. Nobody may change it while it is sent.
public struct HTTPBodyFile: Sendable, Equatable {
    public var path: String
    public var length: Int

    public init(path: String, length: Int) { (self.path, self.length) = (path, length) }
}

/// Whom a client trusts and what it shows. Certificates are always verified; there is no way around it.
public struct HTTPClientTLS: Sendable, Equatable {
    /// PEM file of authorities; empty takes the system's.
    public var certificateAuthority = ""
    /// PEM file of our own certificate, for mutual TLS; empty shows none.
    public var certificate = ""
    /// PEM file of that certificate's key.
    public var privateKey = ""

    /// The system's authorities, and nothing shown.
    public init() {}
}
