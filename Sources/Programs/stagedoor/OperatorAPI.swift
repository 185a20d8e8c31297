import Foundation
import HTTP
import JSON
import RouterForwarding
import WHIPIngest

/// `/v1/…` of the admin listener beside events: sessions with their stories, and descriptions for static receivers.
struct OperatorAPI {
    let whip: WHIPPlane?
    let descriptions: DescriptionFiles

    /// Nil when the path is none of ours.
    func response(to request: HTTPRequest) -> HTTPResponse? {
        guard let segments = request.pathSegments, segments.first == "v1", segments.count >= 2 else { return nil }
        switch (segments[1], segments.count) {
        case ("sessions", 2): return only(request, sessions)
        case ("sessions", 3): return only(request, session(segments[2]))
        case ("participants", 4) where segments[3] == "sdp": return only(request, description(of: segments[2]))
        default: return nil
        }
    }

    private func only(_ request: HTTPRequest, _ response: @autoclosure () -> HTTPResponse) -> HTTPResponse {
        guard request.method == .get || request.method == .head else {
            return ProblemDocument(.methodNotAllowed).response(headers: ["Allow": "GET, HEAD"])
        }
        return response()
    }

    /// How many are live, and those that ended lately, newest first: the ones that somebody asks about.
    private var sessions: HTTPResponse {
        guard let whip else { return HTTPResponse(.ok, json: ["live": 0, "ended": []]) }
        let ended = whip.directory.recentlyFinished.reversed().compactMap { whip.sessionJSON(id: $0.id) }
        return HTTPResponse(.ok, json: ["live": .integer(Int64(whip.directory.count)), "ended": .array(ended)])
    }

    private func session(_ id: String) -> HTTPResponse {
        guard let session = whip?.sessionJSON(id: id) else {
            return ProblemDocument(.notFound, detail: "No session of this id is live or ended lately.").response()
        }
        return HTTPResponse(.ok, json: session)
    }

    /// The description as receivers read it; the file is written as soon as the participant has ports.
    private func description(of participantID: String) -> HTTPResponse {
        guard let path = descriptions.path(of: participantID),
            let text = try? Data(contentsOf: URL(fileURLWithPath: path))
        else { return ProblemDocument(.notFound, detail: "This participant goes to no static router.").response() }
        return HTTPResponse(.ok, headers: ["Content-Type": "application/sdp", "Cache-Control": "no-store"], body: [UInt8](text))
    }
}
