import DTLS
import EventLoop
import GatewayMetrics
public import HTTP
import OpenSSL
public import Refusals
public import SDP
import Settings
import STUN
public import Wire

/// What WHIP and WHEP answer alike: the 201 of a POST and the PATCH of a session (RFC 9725 §4.2, §4.3).
extension TransportPlane {
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
        response.headers["Accept-Patch"] = "application/trickle-ice-sdpfrag"
        for link in linkHeaders(for: entry) { response.headers.add("Link", link) }
        return response
    }

    /// One Link header per ICE server, TURN's with credentials made for the session.
    /// - Parameter entry: nil for whoever has shown no token, and gets no credentials.
    public func linkHeaders(for entry: (any TransportEntry)?) -> [String] {
        configuration.whip.iceServers.compactMap { url in
            guard url.hasPrefix("turn"), !configuration.whip.turnSecret.isEmpty else { return TURNCredentials.link(url) }
            return entry.map {
                TURNCredentials.link(
                    url, configuration.whip, user: $0.transport.id.suffix(8).description, now: EventLoop.wallNow())
            }
        }
    }

    /// A PATCH of a session (RFC 9725 §4.3): trickle, or an ICE restart.
    public func patch(_ request: HTTPRequest, _ entry: any TransportEntry) throws(Refusal) -> HTTPResponse {
        guard request.contentType?.matches("application/trickle-ice-sdpfrag") == true else {
            throw Refusal(.unsupportedContentType)
        }
        guard request.body.count <= SessionDescription.maximumByteCount else { throw Refusal(.bodyTooLarge) }
        let fragment: SDPFragment
        do throws(SDPError) {
            fragment = try SDPFragment(parsing: request.body)
        } catch { throw Refusal(.malformedFragment, sentence: "The SDP fragment is malformed: \(error).") }
        let isRestart = fragment.iceUfrag != nil && fragment.iceUfrag != entry.transport.remoteUfrag
        try checkPrecondition(request, entry, isRestart: isRestart)
        if isRestart { return try restart(fragment, entry) }
        // Trickle: as lite agent we wait for checks and need no candidate; unusable ones would be dropped silently anyway.
        return HTTPResponse(.noContent)
    }

    /// If-Match (RFC 9725 §4.3.1): `*` for a restart, the current ETag for trickle.
    private func checkPrecondition(_ request: HTTPRequest, _ entry: any TransportEntry, isRestart: Bool) throws(Refusal) {
        let tags = request.headers.list(of: "If-Match")
        guard !tags.isEmpty else {
            if configuration.whip.strictETags { throw Refusal(.preconditionRequired) }
            metrics.missingETags.increment()
            return
        }
        guard tags.contains("*") || tags.contains(entry.transport.newestCredentials?.etag ?? "") else {
            throw Refusal(.preconditionFailed)
        }
    }

    /// An ICE restart (RFC 8445 §9): new credentials of ours, a new ETag; DTLS and media go on.
    private func restart(_ fragment: SDPFragment, _ entry: any TransportEntry) throws(Refusal) -> HTTPResponse {
        guard let ufrag = fragment.iceUfrag, let password = fragment.icePassword, (4...256).contains(ufrag.utf8.count),
            (22...256).contains(password.utf8.count)
        else {
            throw Refusal(.malformedFragment, sentence: "An ICE restart needs a=ice-ufrag and a=ice-pwd of RFC 8839's lengths.")
        }
        let credentials = ICECredentials.make(mint)
        directory.remove(entry.transport.add(credentials, remoteUfrag: ufrag))
        directory.add(credentials, for: entry)
        var answer = SDPFragment()
        answer.iceUfrag = credentials.ufrag.description
        answer.icePassword = String(decoding: credentials.password, as: UTF8.self)
        answer.attributes = [Attribute("ice-lite")]
        let peer = entry.transport.peer
        if !peer.iceOptions.isEmpty { answer.attributes.append("ice-options", peer.iceOptions.joined(separator: " ")) }
        answer.mid = peer.taggedMid
        answer.candidates = candidates
        answer.isEndOfCandidates = true
        var response = HTTPResponse(.ok, contentType: "application/trickle-ice-sdpfrag", answer.text)
        response.headers["ETag"] = credentials.etag
        return response
    }
}

extension TransportState {
    /// Whether the session was made with this token, compared in constant time.
    public func belongs(to token: Secret) -> Bool { ConstantTime.isEqual(Digest.sha256(token.reveal()), tokenHash) }
}

extension HTTPRequest {
    /// The bearer token; some encoders leave the word `Bearer` out.
    public var presentedToken: Secret? {
        if let bearerToken { return bearerToken }
        guard let value = headers["Authorization"], !value.isEmpty, !value.contains(" ") else { return nil }
        return Secret(value)
    }
}
