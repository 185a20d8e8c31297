import JSON
import Testing
import Wire

@testable import RouterForwarding

/// Answers every announce, and remembers what was asked.
final class RecordingHTTP: RouterHTTP {
    var requests: [RouterRequest] = []
    /// Of the answer's video.
    var videoLines: [String] = []
    /// Whether changes wait for `answer`.
    var holdsChanges = false
    /// Whether ends get no answer.
    var losesEnds = false
    /// Whether announces get none.
    var losesAnnounces = false
    /// Whether answers to announces wait for `answerAnnounce`.
    var holdsAnnounces = false
    /// Of the answer to an announce.
    var status = 201
    var location: String? = "/v1/participants/p"
    /// Of ours, to which it answers.
    var ownAddress: IPAddress?
    /// Of the answer to a lease.
    var bootID: String?
    /// Whom the answer to a lease lists; none: it lists nobody.
    var listed: [String] = []
    private var held: [(RouterResponse?) -> Void] = []
    private var heldAnnounces: [() -> Void] = []

    /// The oldest announce that waits gets its answer.
    func answerAnnounce() { heldAnnounces.removeFirst()() }

    /// The oldest change that waits gets its answer, or none.
    func answer(_ status: Int?) {
        held.removeFirst()(status.map { RouterResponse(status: $0) })
    }

    func send(_ request: RouterRequest, deadline: Duration, reply: @escaping (RouterResponse?) -> Void) {
        requests.append(request)
        if holdsChanges, request.method == "PATCH" { return held.append(reply) }
        if losesEnds, request.method == "DELETE" { return reply(nil) }
        if losesAnnounces, request.method == "POST" { return reply(nil) }
        let session = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0"]
        let lines = session + ["m=video 9 RTP/AVPF 96", "a=rtcp-mux"] + videoLines
        let sdp = lines.map { $0 + "\r\n" }.joined()
        var body: JSONObject = ["sdp": .string(sdp)]
        if !listed.isEmpty { body["participants"] = .array(listed.map { .string($0) }) }
        if let bootID { body["bootId"] = .string(bootID) }
        let status = request.method == "PUT" ? 200 : status
        let response = RouterResponse(
            status: status, location: location, body: JSONValue.object(body).serialized(), address: .loopback,
            ownAddress: ownAddress)
        if holdsAnnounces, request.method == "POST" { return heldAnnounces.append { reply(response) } }
        reply(response)
    }

    /// The SDP of the request that came as the `index`-th.
    func description(_ index: Int) throws -> String {
        try #require(JSONValue(parsing: requests[index].body)["sdp"]?.string)
    }
}
