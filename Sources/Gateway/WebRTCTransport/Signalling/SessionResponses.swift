import DTLS
import EventLoop
public import HTTP
import JSON
import OpenSSL
public import Refusals
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
    /// The bearer token; some encoders leave the word `Bearer` out.
    public var presentedToken: Secret? {
        if let bearerToken { return bearerToken }
        guard let value = headers["Authorization"], !value.isEmpty, !value.contains(" ") else { return nil }
        return Secret(value)
    }
}

/// Cross-origin access for pages that publish and watch (RFC 9725 §4.1, Fetch): any origin, never with cookies.
public enum CrossOrigin {
    public static func allow(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        response.headers["Access-Control-Allow-Origin"] = "*"
        response.headers["Access-Control-Expose-Headers"] =
            "Location, Link, ETag, Accept-Post, Accept-Patch, Retry-After, Stagedoor-Warning"
        return response
    }
}

/// A refusal as WHIP and WHEP clients read it: problem document, and the header fields its status demands.
///
/// The reason phrase repeats it, because ffmpeg (but for a 401) prints the status line, and nothing of the body.
public enum Problem {
    public static func response(_ refusal: Refusal, headers: HTTPHeaders = [:]) -> HTTPResponse {
        var headers = headers
        switch refusal.code.httpStatus {
        case 401: headers["WWW-Authenticate"] = challenge(refusal)
        case 403: headers["WWW-Authenticate"] = #"Bearer realm="stagedoor", error="insufficient_scope""#
        case 429, 503: headers["Retry-After"] = headers["Retry-After"] ?? "2"
        // Players may wait for a publisher (draft-ietf-wish-whep, "Session Management").
        case 409 where refusal.code == .participantNotLive: headers["Retry-After"] = "2"
        default: break
        }
        let document = ProblemDocument(
            HTTPStatus(refusal.code.httpStatus), title: refusal.code.name.replacing("_", with: " "), detail: refusal.text,
            extensions: ["code": .string(refusal.code.identifier)])
        var response = document.response(headers: headers)
        response.reason = refusal.text
        return response
    }

    /// RFC 6750 §3: without credentials no error is named; with them it is, and why.
    private static func challenge(_ refusal: Refusal) -> String {
        guard refusal.code != .missingToken else { return #"Bearer realm="stagedoor""# }
        let sentence = refusal.sentence.filter { $0.isASCII && $0 != "\"" && $0 != "\\" }
        return #"Bearer realm="stagedoor", error="invalid_token", error_description="\#(sentence)""#
    }
}

/// Link headers for ICE servers, with TURN's time-limited credentials: user `expiry:name`, password HMAC-SHA1 of it in base64.
enum TURNCredentials {
    /// One header field per server, URL first and values quoted: OBS splits on every comma.
    static func link(_ url: String) -> String { "<\(url)>; rel=\"ice-server\"" }

    /// With credentials of the settings' secret for that user.
    static func link(_ url: String, _ settings: WHIPSettings, user: String, now: WallTime) -> String {
        let name = "\(now.secondsSince1970 + settings.turnLifetime.components.seconds):\(user)"
        let password = Base64.standard.text(of: HMAC.sha1(key: settings.turnSecret.reveal(), Array(name.utf8)))
        return "\(link(url)); username=\"\(name)\"; credential=\"\(password)\"; credential-type=\"password\""
    }
}
