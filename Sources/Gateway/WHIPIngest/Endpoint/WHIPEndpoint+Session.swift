import EventLoop
import GatewayMetrics
import STUN
import HTTP
import OpenSSL
import Refusals
import SDP
import StageHub
import Wire

/// PATCH and DELETE of a session (RFC 9725 §4.3, §4.5). They compare the token with the session's own; its expiry is not asked.
extension WHIPEndpoint {
    func delete(_ request: HTTPRequest, _ id: String, _ respond: (HTTPResponse) -> Void) {
        switch find(request, id) {
        case .failure(let refusal): respond(Problem.response(refusal))
        case .success(let entry):
            plane.end(entry, .unpublished)
            respond(HTTPResponse(.ok))  // 200: OBS warns at anything else
        }
    }

    func patch(_ request: HTTPRequest, _ id: String, _ respond: (HTTPResponse) -> Void) {
        switch find(request, id) {
        case .failure(let refusal): respond(Problem.response(refusal))
        case .success(let entry):
            do throws(Refusal) {
                respond(try patch(request, entry))
            } catch { respond(Problem.response(error)) }
        }
    }

    private func find(_ request: HTTPRequest, _ id: String) -> Result<SessionEntry, Refusal> {
        guard rates.allows(request.source.ip, now: loop.now) else { return .failure(Refusal(.tooManyRequests)) }
        guard let token = request.presentedToken else { return .failure(Refusal(.missingToken)) }
        guard let entry = plane.directory.entry(id: id) else { return .failure(Refusal(.unknownSession)) }
        guard ConstantTime.isEqual(Digest.sha256(token.reveal()), entry.tokenHash) else {
            return .failure(Refusal(.foreignSession))
        }
        return .success(entry)
    }

    private func patch(_ request: HTTPRequest, _ entry: SessionEntry) throws(Refusal) -> HTTPResponse {
        guard request.contentType?.matches("application/trickle-ice-sdpfrag") == true else {
            throw Refusal(.unsupportedContentType)
        }
        guard request.body.count <= SessionDescription.maximumByteCount else { throw Refusal(.bodyTooLarge) }
        let fragment: SDPFragment
        do throws(SDPError) {
            fragment = try SDPFragment(parsing: request.body)
        } catch { throw Refusal(.malformedFragment, sentence: "The SDP fragment is malformed: \(error).") }
        let isRestart = fragment.iceUfrag != nil && fragment.iceUfrag != entry.remoteUfrag
        try checkPrecondition(request, entry, isRestart: isRestart)
        if isRestart { return try restart(fragment, entry) }
        // Trickle: as lite agent we wait for checks and need no candidate; unusable ones would be dropped silently anyway.
        return HTTPResponse(.noContent)
    }

    /// If-Match (RFC 9725 §4.3.1): `*` for a restart, the current ETag for trickle.
    private func checkPrecondition(_ request: HTTPRequest, _ entry: SessionEntry, isRestart: Bool) throws(Refusal) {
        let tags = request.headers.list(of: "If-Match")
        guard !tags.isEmpty else {
            if plane.configuration.usesStrictETags { throw Refusal(.preconditionRequired) }
            plane.metrics.missingETags.increment()
            return
        }
        guard tags.contains("*") || tags.contains(entry.newestCredentials?.etag ?? "") else { throw Refusal(.preconditionFailed) }
    }

    /// An ICE restart (RFC 8445 §9): new credentials of ours, a new ETag; DTLS and media go on.
    private func restart(_ fragment: SDPFragment, _ entry: SessionEntry) throws(Refusal) -> HTTPResponse {
        guard let ufrag = fragment.iceUfrag, let password = fragment.icePassword, (4...256).contains(ufrag.utf8.count),
            (22...256).contains(password.utf8.count)
        else {
            throw Refusal(.malformedFragment, sentence: "An ICE restart needs a=ice-ufrag and a=ice-pwd of RFC 8839's lengths.")
        }
        let credentials = ICECredentials.make(plane.mint)
        plane.directory.remove(entry.add(credentials, remoteUfrag: ufrag))
        plane.directory.add(credentials, for: entry)
        var answer = SDPFragment()
        answer.iceUfrag = credentials.ufrag.description
        answer.icePassword = String(decoding: credentials.password, as: UTF8.self)
        answer.attributes = [Attribute("ice-lite")]
        if !entry.offer.iceOptions.isEmpty {
            answer.attributes.append("ice-options", entry.offer.iceOptions.joined(separator: " "))
        }
        answer.mid = entry.offer.bundleMids.first ?? entry.offer.sections[0].mid
        answer.candidates = plane.candidates
        answer.isEndOfCandidates = true
        var response = HTTPResponse(.ok, contentType: "application/trickle-ice-sdpfrag", answer.text)
        response.headers["ETag"] = credentials.etag
        return response
    }
}

extension HTTPRequest {
    /// The bearer token; some encoders leave the word `Bearer` out (field list 32).
    var presentedToken: Secret? {
        if let bearerToken { return bearerToken }
        guard let value = headers["Authorization"], !value.isEmpty, !value.contains(" ") else { return nil }
        return Secret(value)
    }
}
