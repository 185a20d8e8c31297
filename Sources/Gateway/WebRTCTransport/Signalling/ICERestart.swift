import EventLoop
import GatewayMetrics
public import HTTP
import Refusals
import SDP
import STUN
import Settings
import Wire

/// The PATCH of a session, which WHIP and WHEP answer alike: trickle, or an ICE restart (RFC 9725 §4.3, RFC 8445 §9).
extension TransportContext {
    /// Answers a PATCH; its token is the session's.
    public func answerPatch(_ request: HTTPRequest, _ entry: any TransportEntry) -> HTTPResponse {
        do throws(Refusal) { return try patch(request, entry) } catch {
            // RFC 5789 §2.2.
            let isOfAnotherType = error.code == .unsupportedContentType
            return error.response(headers: isOfAnotherType ? ["Accept-Patch": SDPFragment.contentType] : [:])
        }
    }

    func patch(_ request: HTTPRequest, _ entry: any TransportEntry) throws(Refusal) -> HTTPResponse {
        guard request.contentType?.matches(SDPFragment.contentType) == true else { throw Refusal(.unsupportedContentType) }
        guard request.body.count <= SessionDescription.maximumByteCount else { throw Refusal(.bodyTooLarge) }
        let fragment: SDPFragment
        do throws(SDPError) {
            fragment = try SDPFragment(parsing: request.body)
        } catch { throw Refusal(.malformedFragment, sentence: "The SDP fragment is malformed: \(error).") }
        try checkPrecondition(request, entry)
        if let ufrag = fragment.iceUfrag, !entry.transport.knows(ufrag: ufrag) { return try restart(fragment, entry) }
        // Trickle: as lite agent we wait for checks and need no candidate; unusable ones would be dropped silently anyway.
        return HTTPResponse(.noContent)
    }

    /// If-Match (RFC 9725 §4.3.1): `*` or the current ETag, for trickle and restart alike. The examples of WHIP and WHEP write
    /// `"*"`, which is no ETag of ours.
    private func checkPrecondition(_ request: HTTPRequest, _ entry: any TransportEntry) throws(Refusal) {
        let tags = request.headers.list(of: "If-Match")
        guard !tags.isEmpty else {
            if configuration.whip.strictETags { throw Refusal(.preconditionRequired) }
            metrics.missingETags.increment()
            return
        }
        let matching = ["*", "\"*\"", entry.transport.newestCredentials?.etag]
        guard tags.contains(where: { matching.contains($0) }) else { throw Refusal(.preconditionFailed) }
    }

    /// An ICE restart (RFC 8445 §9): new credentials of ours, a new ETag; DTLS and media go on.
    private func restart(_ fragment: SDPFragment, _ entry: any TransportEntry) throws(Refusal) -> HTTPResponse {
        guard let ufrag = fragment.iceUfrag, let password = fragment.icePassword,
            PeerDescription.areCredentials(ufrag, password)
        else {
            throw Refusal(.malformedFragment, sentence: "An ICE restart needs a=ice-ufrag and a=ice-pwd of RFC 8839's lengths.")
        }
        let credentials = ICECredentials.make(mint)
        directory.remove(entry.transport.add(credentials, remoteUfrag: ufrag))
        directory.add(credentials, for: entry)
        // Its end may have come before, and would leave these behind.
        guard entry.transport.ownership != .ended else {
            remove(entry)
            throw Refusal(.unknownSession)
        }
        var answer = SDPFragment()
        answer.iceUfrag = credentials.ufrag.description
        answer.icePassword = String(decoding: credentials.password, as: UTF8.self)
        answer.attributes = [Attribute("ice-lite")]
        let peer = entry.transport.peer
        if !peer.iceOptions.isEmpty { answer.attributes.append("ice-options", peer.iceOptions.joined(separator: " ")) }
        if !peer.bundleMids.isEmpty { answer.attributes.append(MediaGroup(semantics: "BUNDLE", mids: peer.bundleMids)) }
        answer.mid = peer.taggedMid
        answer.candidates = candidates
        answer.isEndOfCandidates = true
        var response = HTTPResponse(.ok, contentType: SDPFragment.contentType, answer.text)
        response.headers["ETag"] = credentials.etag
        return response
    }
}
