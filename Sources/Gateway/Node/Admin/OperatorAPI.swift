import Admission
import ClientConfiguration
import EncoderSetup
import Foundation
import HTTP
import JSON
import Monitoring
import Recording
import RedundantIngest
import RouterForwarding
import Store
import WHIPIngest
import Wire

/// `/v1/…` of the admin listener beside events: the overview, sessions with their stories, which of two encoders a stage gets,
/// what sets up OBS, descriptions for static receivers, and thumbnails.
struct OperatorAPI {
    let whip: WHIPContext?
    let descriptions: DescriptionFiles
    let report: OverviewReport
    let setup: StageSetup
    let redundancy: RedundancyDesk
    let thumbnails: LatestThumbnails

    var overview: HTTPResponse { document(report.json) }

    private func document(_ json: JSONValue) -> HTTPResponse {
        HTTPResponse(.ok, json: json, headers: ["Cache-Control": "no-store"])
    }

    /// Those that are live and those that ended lately. WHIP sessions that never came to publish are among the ended ones: they
    /// are what somebody asks about.
    var sessions: HTTPResponse {
        let overview = report.json
        let unpublished = whip?.directory.recentlyFinished.reversed().filter { report.session($0.id) == nil } ?? []
        return document([
            "live": overview["sessions"] ?? [], "ended": overview["ended"] ?? [],
            "unpublished": .array(unpublished.prefix(Self.maximumUnpublished).compactMap { whip?.sessionJSON(id: $0.id) }),
        ])
    }

    /// What is known of a publish, and for WHIP its way from the POST on.
    func session(_ id: String) -> HTTPResponse {
        var object = report.session(id)
        if let whip = whip?.sessionJSON(id: id)?.object {
            for name in ["state", "story", "media"] { object?[name] = whip[name] }
            object = object ?? whip
        }
        guard let object else {
            return ProblemDocument(.notFound, detail: "No session of this id is live or ended lately.").response()
        }
        return document(.object(object))
    }

    /// The stage that what is asked for belongs to; nil where it is of no single stage, or is not there.
    func stageARN(of action: AdminAction, _ taken: [String]) -> String? {
        switch action {
        case .stageMetrics, .thumbnail, .recording: return report.stage(id: taken[0])?.arn
        case .obsConfiguration: return setup.ingestConfiguration(id: taken[0])?.stageARN
        case .session:
            let session = report.session(taken[0]).map { JSONValue.object($0) } ?? whip?.sessionJSON(id: taken[0])
            return session?["stageArn"]?.string
        case .source: return redundancy.status(ofParticipant: taken[0])?.stageARN
        case .description:
            let id = taken.count == 2 ? taken[0] : stageID(ofFirst: taken[0])
            return id.flatMap { report.stage(id: $0)?.arn }
        default: return nil
        }
    }

    /// The stage to whose participant of that id its link leads.
    private func stageID(ofFirst participantID: String) -> String? {
        guard let link = descriptions.path(ofFirst: participantID) else { return nil }
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: link)
        return target?.split(separator: "/").first.map(String.init)
    }

    /// What a streamer pastes into *Config Override* of OBS. `?encoder=1` or `2` says which of two redundant encoders it is,
    /// `?layers=1` to `3` how many sizes of the picture it makes.
    func obsConfiguration(ofIngestConfiguration id: String, _ request: HTTPRequest) -> HTTPResponse {
        func number(_ name: String) -> Int {
            request.queryItems.items.first { $0.name == name }.map { Int($0.value) ?? 0 } ?? 1
        }
        let (encoder, layers) = (number("encoder"), number("layers"))
        guard (1...2).contains(encoder) else { return badRequest("encoder is 1 or 2.") }
        guard (1...StreamTarget.maximumLayers).contains(layers) else { return badRequest("layers is 1, 2 or 3.") }
        guard let configuration = setup.override(forIngestConfiguration: id, encoder: encoder, layers: layers) else {
            return ProblemDocument(.notFound, detail: "There is no ingest configuration of this id.").response()
        }
        return document(.object(configuration))
    }

    /// Which of two encoders the stage gets; a POST of `{"encoder": 2}` has it get that one's, from its next keyframe on.
    func source(ofParticipant id: String, _ order: SourceOrder, _ request: HTTPRequest) -> HTTPResponse {
        guard let status = redundancy.status(ofParticipant: id) else {
            return ProblemDocument(.notFound, detail: "No participant of two encoders has this id and publishes here.").response()
        }
        guard order == .change else { return document(.object(status.json)) }
        let body = try? JSONValue(parsing: request.body)
        guard let number = body?["encoder"]?.integer, (1...2).contains(number) else {
            return badRequest("The body is {\"encoder\": 1} or {\"encoder\": 2}.")
        }
        guard redundancy.order(Int(number), for: status.participant) else {
            return ProblemDocument(.conflict, detail: "Encoder \(number) brings nothing now.").response()
        }
        return HTTPResponse(202, json: .object(status.json), headers: ["Cache-Control": "no-store"])
    }

    private func badRequest(_ detail: String) -> HTTPResponse { ProblemDocument(.badRequest, detail: detail).response() }

    /// The description as receivers read it; the file is written as soon as the participant has ports.
    /// - Parameter names: the stage's id and the participant's, or the participant's alone.
    func description(of names: [String]) -> HTTPResponse {
        let path =
            names.count == 2
            ? descriptions.path(of: ParticipantKey(names[1], onStage: names[0])) : descriptions.path(ofFirst: names[0])
        guard let path,
            let text = try? Data(contentsOf: URL(fileURLWithPath: path))
        else { return ProblemDocument(.notFound, detail: "This participant goes to no static router.").response() }
        return HTTPResponse(.ok, headers: ["Content-Type": "application/sdp", "Cache-Control": "no-store"], body: [UInt8](text))
    }

    /// As this node made it of a keyframe.
    func thumbnail(ofParticipant participantID: String, onStage stageID: String) -> HTTPResponse {
        guard let jpeg = thumbnails.picture(ofParticipant: participantID, onStage: stageID) else {
            return ProblemDocument(.notFound, detail: "There is no thumbnail of this participant here.").response()
        }
        return HTTPResponse(.ok, headers: ["Content-Type": "image/jpeg", "Cache-Control": "no-store"], body: jpeg)
    }

    private static let maximumUnpublished = 50
}
