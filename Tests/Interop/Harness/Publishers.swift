import Foundation
import Testing

/// Someone who may publish on a stage of its own, by RTMP or by WHIP.
struct Publisher: Decodable {
    var name: String
    var stageArn: String
    var streamKey: String
    var rtmpParticipantId: String
    var token: String
    var whipParticipantId: String
}

/// One event of `GET /v1/events`, in the words of EventBridge.
struct StageEvent: Decodable {
    var name: String
    /// Recordings' have none.
    var time: String?
    var participant: String
    var error: String?
    /// Of warnings.
    var rule: String?
    var message: String?

    private enum CodingKeys: String, CodingKey {
        case name = "event_name"
        case time = "event_time"
        case participant = "participant_id"
        case error = "error_code"
        case rule, message
    }
}

/// A line of the gateway's log.
struct LogLine: Decodable {
    var time: String
    var event: String
    /// Address and port: connections are numbered by each worker for itself.
    var source: String?
    var participant: String?
    var code: String?
    var reason: String?
    var verdict: String?
    var videoFrames: Int?
    var audioFrames: Int?

    private enum CodingKeys: String, CodingKey {
        case time, event, source, participant, code, reason, verdict
        case videoFrames = "video_frames"
        case audioFrames = "audio_frames"
    }
}

extension Gateway {
    /// Room for a whole matrix of clips from one address.
    static let roomForMany = """
        rates: {resources: 10000, tokens: 10000}
        quotas: {ingestConfigurations: 1000, stages: 1000}
        limits: {connectionsPerAddress: 1000}
        """

    /// Makes publishers through the control API, in the order of `names`.
    func makePublishers(_ names: [String], stageTags tags: [String: String] = [:]) throws -> [Publisher] {
        let client = Workspace.package.appending(path: "Tests/Interop/Clients/publishers.py").path
        let output = try ProgramRun.output(
            of: [
                Workspace.package.appending(path: ".deps/venv/bin/python").path, client, try #require(quickstart.adminURL),
                try #require(quickstart.accessKeyId), try #require(quickstart.secretAccessKey), quickstart.region ?? "us-east-1",
            ] + tags.map { "\($0)=\($1)" } + names, within: .seconds(300))
        return try output.split(separator: "\n").map { try JSONDecoder().decode(Publisher.self, from: Data($0.utf8)) }
    }

    /// Every event so far, oldest first, as far as they come within some seconds.
    func events(listening seconds: Int = 2) throws -> [StageEvent] {
        // The stream has no end: what is there comes at once, and what curl's end cuts is behind the last empty line.
        let stream = try signed("v1/events", ["-N", "--max-time", "\(seconds)", "-H", "Last-Event-ID: 0"])
        struct Envelope: Decodable { var detail: StageEvent }
        return try stream.components(separatedBy: "\n\n").dropLast().flatMap { $0.split(separator: "\n") }
            .filter { $0.hasPrefix("data:") }
            .map { try JSONDecoder().decode(Envelope.self, from: Data($0.dropFirst(5).utf8)).detail }
    }

    /// A participant's events, or everybody's, once they are as wanted, or after a minute.
    func events(of participant: String? = nil, until isWanted: ([StageEvent]) -> Bool) throws -> [StageEvent] {
        var (events, seconds) = ([StageEvent](), 1)
        _ = try holds(within: .seconds(60)) {
            seconds = min(2 * seconds, 30)
            events = try self.events(listening: seconds).filter { participant == nil || $0.participant == participant }
            return isWanted(events)
        }
        return events
    }

    /// A document of the admin listener that is for operators only.
    func signed(_ path: String, _ options: [String] = []) throws -> String {
        let credentials = "\(try #require(quickstart.accessKeyId)):\(try #require(quickstart.secretAccessKey))"
        let run = try ProgramRun(
            ["curl", "-sS", "--max-time", "50", "--aws-sigv4", "aws:amz:us-east-1:ivs", "--user", credentials] + options
                + ["\(try #require(quickstart.adminURL))/\(path)"])
        _ = run.status(within: .seconds(60))
        return run.output
    }

    /// The log's lines of one event.
    func logged(_ event: String) -> [LogLine] {
        log.split(separator: "\n").filter { $0.contains("\"\(event)\"") }
            .compactMap { try? JSONDecoder().decode(LogLine.self, from: Data($0.utf8)) }.filter { $0.event == event }
    }

    /// Whether each encoder by RTMP whose end is in the log said that it ends: all that it had sent before has come.
    var heardGoodbyes: Bool { logged("rtmp_publish_ended").allSatisfy { $0.reason == "unpublished" } }

    /// The log's line about the end of a participant's RTMP publish.
    func endOfRTMP(_ participant: String) -> LogLine? {
        let source = logged("rtmp_publish_granted").last { $0.participant == participant }?.source
        return logged("rtmp_publish_ended").last { $0.source == source }
    }

    /// The log's line about the end of a participant's WHIP session.
    func endOfWHIP(_ participant: String) -> LogLine? { logged("whip_ended").last { $0.participant == participant } }
}
