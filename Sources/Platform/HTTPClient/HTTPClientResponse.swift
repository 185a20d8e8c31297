public import Wire

/// A whole answer. Redirects are answers too: they are never followed.
public struct HTTPClientResponse: Sendable {
    /// 200, 404, …; also of a redirect.
    public var status: Int
    /// Names in lower case, in the order of arrival.
    public var headers: [(name: String, value: String)] = []
    /// Decoded as far as chunks go; at most `maximumBodyLength`.
    public var body: [UInt8] = []
    /// From which it comes.
    public var address: IPAddress?
    /// Of ours, from which the connection was made; of a connection that is used again it may be unknown.
    public var ownAddress: IPAddress?

    /// The first field of that name, in whatever case.
    public subscript(name: String) -> String? { headers.first { $0.name == name.lowercased() }?.value }
}

/// Why no whole answer came.
public enum HTTPClientError: Error, Equatable, Sendable {
    /// The URL, or a certificate it needs, is not usable.
    case invalidRequest(String)
    /// The deadline passed.
    case timedOut
    /// The answer's body is longer than `maximumBodyLength`; the status came before it.
    case tooLong(status: Int)
    /// The peer's certificate is not trusted.
    case untrusted(String)
    /// Anything else, in libcurl's words: nobody listens, no such name, the connection broke.
    case failed(String)
    /// Beyond the client's capacity.
    case overloaded

    /// For the log.
    public var words: String {
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
