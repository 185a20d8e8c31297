import Foundation
import Testing

/// A publisher's own stage and another one where it is to stand too: what the AWS CLI does with them, and what the API shows.
///
/// The publisher is quickstart's, and so is the first stage; of a platform any node is asked.
struct ReplicatedStages {
    let gateway: Gateway
    let source: String
    let destination: String
    var participant: String { gateway.quickstart.participantId }

    init(_ gateway: Gateway) throws {
        let source = try #require(gateway.quickstart.stageArn)
        self.init(gateway, source: source, destination: try gateway.makeStage())
    }

    private init(_ gateway: Gateway, source: String, destination: String) {
        (self.gateway, self.source, self.destination) = (gateway, source, destination)
    }

    /// The same ones, asked of another node.
    func at(_ node: Gateway) -> Self { Self(node, source: source, destination: destination) }
    /// The same publisher, and one more stage.
    func another() throws -> Self { Self(gateway, source: source, destination: try gateway.makeStage()) }

    var pair: [String] {
        ["--source-stage-arn", source, "--destination-stage-arn", destination, "--participant-id", participant]
    }

    /// The publisher's encoder, once the stage has it; it tries again as encoders do that reconnect.
    func publish() throws -> ProgramRun {
        let before = gateway.count(of: "rtmp_publish_granted")
        var encoder = try encode()
        try expect("it publishes\n\(gateway.log.suffix(2_000))", within: .seconds(120)) {
            if gateway.count(of: "rtmp_publish_granted") > before {
                return try names(on: source).last { $0.hasPrefix("PUBLISH_") } == "PUBLISH_STARTED"
            }
            if !encoder.isRunning {
                letPass(.milliseconds(500))
                encoder = try encode()
            }
            return false
        }
        return encoder
    }

    private func encode() throws -> ProgramRun {
        try Encoder.ffmpeg(.long, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
    }

    func start(_ options: [String] = []) throws { _ = try gateway.aws("start-participant-replication", pair + options) }
    func stop() throws { _ = try gateway.aws("stop-participant-replication", pair) }

    /// aiortc, by a new token of the stage, which counts pictures of the publisher.
    func watch(_ stage: String) throws -> (run: ProgramRun, viewer: String) {
        let options = ["--stage-arn", stage, "--capabilities", "SUBSCRIBE"]
        let made = try gateway.answer("create-participant-token", options)["participantToken"] as? [String: Any]
        let (token, viewer) = (try #require(made?["token"] as? String), try #require(made?["participantId"] as? String))
        let id = try #require(stage.split(separator: "/").last)
        let url = try #require(gateway.quickstart.whipURL).replacing(/\/whip$/, with: "/whep/\(id)/\(participant)")
        let run = try ProgramRun([
            "env", "PICTURE=1", Interop.WHIP.python, Interop.WHIP.script("aiortc_whep.py"), "\(Encoder.untilStopped)", token, url,
        ])
        return (run, viewer)
    }

    // MARK: - What the API shows

    /// The participant on a stage, in the stage's newest session; nil where it has not been seen there.
    func shown(on stage: String) throws -> [String: Any]? {
        guard let session = try session(of: stage) else { return nil }
        let place = ["stageArn": stage, "sessionId": session]
        let found = try gateway.ask("ListParticipants", place)["participants"] as? [[String: Any]]
        guard found?.contains(where: { $0["participantId"] as? String == participant }) == true else { return nil }
        return try gateway.ask("GetParticipant", place.merging(["participantId": participant]) { $1 })["participant"]
            as? [String: Any]
    }

    func isConnected(on stage: String) throws -> Bool { try shown(on: stage)?["state"] as? String == "CONNECTED" }

    func session(of stage: String) throws -> String? { try gateway.stageSessions(stage).first }

    func events(on stage: String) throws -> [[String: Any]] {
        guard let session = try session(of: stage) else { return [] }
        return try gateway.participantEvents(stage, session, participant)
    }

    func names(on stage: String) throws -> [String] { try events(on: stage).compactMap { $0["name"] as? String } }

    func replicas() throws -> [[String: Any]] {
        let publisher = ["sourceStageArn": source, "participantId": participant]
        return try gateway.ask("ListParticipantReplicas", publisher)["replicas"] as? [[String: Any]] ?? []
    }

    var states: [String] { get throws { try replicas().compactMap { $0["replicationState"] as? String } } }
}

extension Gateway {
    /// The AWS CLI's answer.
    func answer(_ operation: String, _ options: [String]) throws -> [String: Any] {
        let text = try aws(operation, options)
        return try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    /// The API's own answer, for what is asked again and again: the AWS CLI takes a processor for a second each time. Who is asked
    /// too often, or fails for the moment, is asked once more, as SDKs do.
    func ask(_ operation: String, _ input: [String: String]) throws -> [String: Any] {
        let body = String(decoding: try JSONEncoder().encode(input), as: UTF8.self)
        var answer: [String: Any] = [:]
        _ = try holds(within: .seconds(60)) {
            let text = try signed(operation, ["-H", "Content-Type: application/json", "--data", body])
            answer = try #require(try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any], "\(text)")
            let message = answer["message"] as? String ?? ""
            return !message.hasPrefix("Rate exceeded") && !message.hasSuffix("try again.")
        }
        try #require(!answer.keys.contains("message"), "\(answer)")
        return answer
    }

    /// The ids of a stage's sessions, the newest first.
    func stageSessions(_ stage: String) throws -> [String] {
        let sessions = try ask("ListStageSessions", ["stageArn": stage])["stageSessions"] as? [[String: Any]]
        return sessions?.compactMap { $0["sessionId"] as? String } ?? []
    }

    /// A participant's events in a session, the oldest first.
    func participantEvents(_ stage: String, _ session: String, _ participant: String) throws -> [[String: Any]] {
        let place = ["stageArn": stage, "sessionId": session, "participantId": participant]
        return try ask("ListParticipantEvents", place)["events"] as? [[String: Any]] ?? []
    }

    func makeStage() throws -> String {
        let made = try answer("create-stage", ["--name", "other"])["stage"] as? [String: Any]
        return try #require(made?["arn"] as? String)
    }

    func refuses(
        _ operation: String, _ options: [String], _ name: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        do {
            let told = try aws(operation, options)
            Issue.record("not refused: \(told)", sourceLocation: sourceLocation)
        } catch {
            #expect("\(error)".contains(name), "\(error)", sourceLocation: sourceLocation)
        }
    }
}
