public import Wire

/// One request (RFC 9112 §3), whole: its body has arrived and any transfer coding is gone.
public struct HTTPRequest: Equatable, Sendable {
    /// What is asked for.
    public var method: HTTPMethod
    /// The target exactly as sent; signatures are computed over it.
    public var target: String
    /// The path as sent, percent-encoding kept; begins with `/`, or is `*`.
    public var path: String
    /// What follows `?`, as sent.
    public var query: String?
    /// In which the answer has to be framed.
    public var version: HTTPVersion
    /// Host and port that the client named, from the target or the Host field; nil only in HTTP/1.0.
    public var authority: String?
    /// All header fields, framing included; trailers are dropped.
    public var headers: HTTPHeaders
    /// Whole, at most as long as the parser's caller said; empty when there is none.
    public var body: [UInt8]
    /// Who sent it, after PROXY protocol and X-Forwarded-For of trusted proxies; the parser leaves it unspecified.
    public var source: SocketAddress
    /// Whether the client spoke TLS, to us or to a trusted proxy.
    public var isSecure = false
    /// What trusted proxies took off the path; stands before every path that an answer names. Empty, or as `/ingest`.
    public var pathPrefix = ""

    /// A request as the parser makes it; `authority` is the target's, or else the Host field's.
    public init(
        method: HTTPMethod, target: HTTPRequestTarget, rawTarget: String, version: HTTPVersion = .http11,
        headers: HTTPHeaders = [:], body: [UInt8] = [], source: SocketAddress = SocketAddress(.anyV4, port: 0)
    ) {
        (self.method, self.target, path, query) = (method, rawTarget, target.path, target.query)
        (self.version, authority, self.headers) = (version, target.authority ?? headers["Host"], headers)
        (self.body, self.source) = (body, source)
    }

    /// The path's segments, decoded: `/a/b%2Fc/` is `["a", "b/c", ""]`; nil when one is not UTF-8.
    public var pathSegments: [String]? {
        guard path.hasPrefix("/") else { return nil }
        var segments: [String] = []
        for encoded in path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            guard let segment = PercentEncoding.decode(encoded) else { return nil }
            segments.append(segment)
        }
        return segments
    }

    /// The decoded pairs of the query.
    public var queryItems: QueryItems { QueryItems(query ?? "") }

    /// Whether the client wants the connection kept (RFC 9112 §9.3).
    public var keepsConnection: Bool {
        if headers.list(of: "Connection", contains: "close") { return false }
        return version == .http11 || headers.list(of: "Connection", contains: "keep-alive")
    }

    /// The credentials of `Authorization: Bearer …` (RFC 6750 §2.1); nil for another scheme or none.
    public var bearerToken: Secret? {
        guard let value = headers["Authorization"], let space = value.utf8.firstIndex(of: 0x20),
            HTTPHeaders.areEqual(value[..<space], "Bearer")
        else { return nil }
        let token = value[space...].trimmingWhiteSpace()
        return token.isEmpty ? nil : Secret(token)
    }
}

/// A request method (RFC 9110 §9); its name is case-sensitive.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    public var rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: String) { rawValue = value }
    public var description: String { rawValue }

    /// Safe: it only asks.
    public static let get: HTTPMethod = "GET"
    /// Answered as GET, without the body.
    public static let head: HTTPMethod = "HEAD"
    /// Not idempotent: once at most.
    public static let post: HTTPMethod = "POST"
    /// Replaces what is at the target.
    public static let put: HTTPMethod = "PUT"
    /// Changes a part of what is at the target (RFC 5789).
    public static let patch: HTTPMethod = "PATCH"
    /// Removes what is at the target.
    public static let delete: HTTPMethod = "DELETE"
    /// What may be asked for; CORS preflights.
    public static let options: HTTPMethod = "OPTIONS"
}

/// The versions spoken here; a later minor version is answered as 1.1 (RFC 9110 §2.5).
public enum HTTPVersion: Equatable, Sendable {
    /// HTTP/1.0: no chunks, and the connection closes unless the client asks otherwise.
    case http10
    /// HTTP/1.1.
    case http11
}
