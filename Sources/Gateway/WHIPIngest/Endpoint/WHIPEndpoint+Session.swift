import EventLoop
import HTTP
import JSON
import Refusals
import SDP
import WebRTCTransport
import Wire

/// PATCH, DELETE and GET of a session (RFC 9725 §4.2, §4.3, §4.5). They compare the token with the session's own; its expiry is not asked.
extension WHIPEndpoint {
    func delete(_ request: HTTPRequest, _ id: String, _ respond: (HTTPResponse) -> Void) {
        switch find(request, id, orEnded: true) {
        case .failure(let refusal): respond(Problem.response(refusal))
        case .success(let entry):
            plane.transport.end(entry, .closed)  // one that has ended stays as it is: the encoder only tidies up
            respond(HTTPResponse(.ok))  // 200: OBS warns at anything else
        }
    }

    func patch(_ request: HTTPRequest, _ id: String, _ respond: (HTTPResponse) -> Void) {
        switch find(request, id) {
        case .failure(let refusal): respond(Problem.response(refusal))
        case .success(let entry):
            do throws(Refusal) {
                respond(try plane.transport.patch(request, entry))
            } catch { respond(Problem.response(error)) }
        }
    }

    func isHere(_ place: SessionIdentifier.Place) -> Bool {
        let settings = plane.transport.configuration
        return place.node == settings.node && place.generation == settings.generation
    }

    /// Has a request answered where its session is: by another process of this node, or by another node. Strangers, and bodies
    /// that would be refused there, go nowhere.
    func passOn(
        _ request: HTTPRequest, _ id: String, to place: SessionIdentifier.Place, _ respond: @escaping (HTTPResponse) -> Void
    ) {
        let settings = plane.transport.configuration
        let refuse = { (code: RefusalCode) in
            // A GET of what is not there, or somebody else's, says as little as one without a token.
            respond(request.method == .get ? HTTPResponse(.noContent) : Problem.response(Refusal(code)))
        }
        guard rates.allows(request.source.ip, now: loop.now) else { return refuse(.tooManyRequests) }
        guard request.body.count <= SessionDescription.maximumByteCount else { return refuse(.bodyTooLarge) }
        guard let token = request.presentedToken else { return refuse(.missingToken) }
        guard SessionIdentifier.isSealed(id, for: token, key: settings.sessionKey) else { return refuse(.foreignSession) }
        let isTaken =
            place.node == settings.node
            ? predecessor(request, respond) : proxy?.pass(request, id, toNode: place.node, respond) ?? false
        if !isTaken { refuse(.unknownSession) }
    }

    /// GET with the session's token: empty while it lives, and for a minute after its end why.
    func ending(_ request: HTTPRequest, _ id: String) -> HTTPResponse {
        switch find(request, id, orEnded: true) {
        case .success(let entry):
            guard let verdict = entry.story.verdict else { return HTTPResponse(.noContent) }
            return HTTPResponse(.ok, json: ["verdict": .string(verdict)], headers: ["Cache-Control": "no-store"])
        // What is not there, or somebody else's, says as little as a GET without a token.
        case .failure: return HTTPResponse(.noContent)
        }
    }

    /// - Parameter orEnded: takes a session too that has just ended.
    private func find(_ request: HTTPRequest, _ id: String, orEnded: Bool = false) -> Result<SessionEntry, Refusal> {
        guard rates.allows(request.source.ip, now: loop.now) else { return .failure(Refusal(.tooManyRequests)) }
        guard let token = request.presentedToken else { return .failure(Refusal(.missingToken)) }
        let ended = orEnded ? plane.directory.endedEntry(id: id, now: loop.now) : nil
        guard let entry = plane.directory.entry(id: id) ?? ended else { return .failure(Refusal(.unknownSession)) }
        guard entry.transport.belongs(to: token) else {
            return .failure(Refusal(.foreignSession))
        }
        return .success(entry)
    }
}
