import DTLS
import EventLoop
public import HTTP
import OpenSSL
public import SDP
import STUN
import Settings
public import Wire

/// What WHIP and WHEP answer alike: to the POST that makes a session (RFC 9725 §4.2), and to OPTIONS.
extension TransportContext {
    /// The answer to a POST that made `entry`.
    /// - Parameter answer: writes the SDP answer around our side of it.
    public func created(
        _ entry: any TransportEntry, location: String, _ answer: (LocalDescription) -> SessionDescription
    ) -> HTTPResponse {
        guard let credentials = entry.transport.newestCredentials else { preconditionFailure("an entry is made with some") }
        let local = LocalDescription(
            ufrag: credentials.ufrag.description, password: String(decoding: credentials.password, as: UTF8.self),
            fingerprint: entry.transport.certificate.fingerprint, candidates: candidates, sessionID: Random.integer())
        var response = HTTPResponse(.created, contentType: "application/sdp", answer(local).text)
        response.headers["Location"] = location
        response.headers["ETag"] = credentials.etag
        response.headers["Accept-Patch"] = SDPFragment.contentType
        for link in linkHeaders(for: entry) { response.headers.add("Link", link) }
        return response
    }

    /// The answer to OPTIONS: 200 with what is accepted; ICE servers only where it is no preflight (RFC 9725 §4.6).
    public func optionsResponse(to request: HTTPRequest, allowed: String, isSession: Bool) -> HTTPResponse {
        var response = HTTPResponse(.ok)
        response.headers["Allow"] = allowed
        response.headers["Access-Control-Allow-Methods"] = "OPTIONS, GET, POST, PATCH, DELETE"
        response.headers["Access-Control-Allow-Headers"] = "Authorization, Content-Type, If-Match, Link"
        response.headers["Access-Control-Max-Age"] = "86400"
        if isSession {
            response.headers["Accept-Patch"] = SDPFragment.contentType
        } else {
            response.headers["Accept-Post"] = "application/sdp"
        }
        guard !request.headers.contains("Access-Control-Request-Method") else { return response }
        for link in linkHeaders(for: nil) { response.headers.add("Link", link) }
        return response
    }

    /// One Link header per ICE server, TURN's with credentials made for the session.
    /// - Parameter entry: nil for whoever has shown no token, and gets no credentials.
    private func linkHeaders(for entry: (any TransportEntry)?) -> [String] {
        configuration.whip.iceServers.compactMap { url in
            guard url.hasPrefix("turn"), !configuration.whip.turnSecret.isEmpty else { return TURNCredentials.link(url) }
            return entry.map {
                TURNCredentials.link(
                    url, configuration.whip, user: $0.transport.id.suffix(8).description, now: EventLoop.wallNow())
            }
        }
    }
}

extension HTTPRequest {
    /// The bearer token. Some encoders leave the word `Bearer` out, and some users type it where the encoder writes it too.
    public var presentedToken: Secret? {
        let words = (headers["Authorization"] ?? "").utf8.split(separator: 0x20).map(Substring.init)
        let token = words.drop { $0.lowercased() == "bearer" }
        return token.count == 1 ? token.first.map { Secret($0) } : nil
    }

    /// What the client calls itself: the first 256 bytes of that.
    public var userAgent: String {
        String(decoding: (headers["User-Agent"] ?? "").utf8.prefix(Self.maximumUserAgentByteCount), as: UTF8.self)
    }

    private static let maximumUserAgentByteCount = 256
}
