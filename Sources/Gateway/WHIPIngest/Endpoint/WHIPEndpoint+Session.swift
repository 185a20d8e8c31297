import EventLoop
import HTTP
import Refusals
import WebRTCTransport
import Wire

/// PATCH and DELETE of a session (RFC 9725 §4.3, §4.5). They compare the token with the session's own; its expiry is not asked.
extension WHIPEndpoint {
    func delete(_ request: HTTPRequest, _ id: String, _ respond: (HTTPResponse) -> Void) {
        switch find(request, id) {
        case .failure(let refusal): respond(Problem.response(refusal))
        case .success(let entry):
            plane.transport.end(entry, .closed)
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

    private func find(_ request: HTTPRequest, _ id: String) -> Result<SessionEntry, Refusal> {
        guard rates.allows(request.source.ip, now: loop.now) else { return .failure(Refusal(.tooManyRequests)) }
        guard let token = request.presentedToken else { return .failure(Refusal(.missingToken)) }
        guard let entry = plane.directory.entry(id: id) else { return .failure(Refusal(.unknownSession)) }
        guard entry.transport.belongs(to: token) else {
            return .failure(Refusal(.foreignSession))
        }
        return .success(entry)
    }
}
