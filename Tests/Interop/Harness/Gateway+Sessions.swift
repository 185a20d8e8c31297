import Foundation
import Testing

/// A session as `GET /v1/sessions/{id}` tells it.
struct ToldSession: Decodable {
    struct Story: Decodable {
        struct Step: Decodable {
            var step: String
            var milliseconds: Int
            var time: String
            var peer: String?
        }

        var steps: [Step]
        var verdict: String?
        var rejectedChecks: Int?
    }

    struct Media: Decodable {
        struct Track: Decodable {
            var packets: Int
            var lost: Int
            var recovered: Int
        }

        struct Layer: Decodable {
            var rid: String
            var packets: Int
            var lost: Int
            var recovered: Int
        }

        var video: Track
        /// Of simulcast.
        var layers: [Layer]?
        var audio: Track
    }

    var sessionId: String
    var state: String
    var story: Story
    private var figures: Media?
    var media: Media {
        let none = Media.Track(packets: 0, lost: 0, recovered: 0)
        return figures ?? Media(video: none, audio: none)
    }

    private enum CodingKeys: String, CodingKey {
        case sessionId, state, story
        case figures = "media"
    }
}

extension Gateway {
    /// WHIP sessions that ended, the latest first: their ids stand in the log.
    func endedSessions() throws -> [ToldSession] {
        let lines = log.split(separator: "\n").filter { $0.contains("\"whip_ended\"") }
        return try lines.reversed().compactMap { $0.firstMatch(of: /"session":"([^"]+)"/) }.map { try session(String($0.1)) }
    }

    func session(_ id: String) throws -> ToldSession {
        try JSONDecoder().decode(ToldSession.self, from: Data(try signedAdmin("v1/sessions/\(id)").utf8))
    }

    /// A document of the admin listener that wants credentials.
    func signedAdmin(_ path: String) throws -> String {
        let region = quickstart.region ?? "us-east-1"
        let keys = "\(try #require(quickstart.accessKeyId)):\(try #require(quickstart.secretAccessKey))"
        return try ProgramRun.output(
            of: [
                "curl", "-sS", "--max-time", "50", "--aws-sigv4", "aws:amz:\(region):ivs", "--user", keys,
                "\(try #require(quickstart.adminURL))/\(path)",
            ], within: .seconds(60))
    }

    /// The value of a metric without labels.
    static func sample(_ name: String, in metrics: String) -> Int? {
        let line = metrics.split(separator: "\n").first { $0.hasPrefix(name + " ") }
        return line.flatMap { Double($0.dropFirst(name.count + 1)) }.map { Int($0) }
    }
}
