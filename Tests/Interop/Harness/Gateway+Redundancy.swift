import Foundation
import TestSupport
import Testing

/// An ingest configuration of two encoders.
struct RedundantConfiguration: Decodable {
    struct Credential: Decodable {
        /// The encoder's own.
        var participantId: String
        var streamKey: String
    }

    /// What the stage sees.
    var participantId: String
    var redundantIngestCredentials: [Credential]

    /// - Parameter number: 1 or 2.
    func streamKey(_ number: Int) -> String { redundantIngestCredentials[number - 1].streamKey }
}

/// What `GET /v1/participants/{id}/source` answers.
struct RedundantStatus: Decodable {
    struct Encoder: Decodable {
        var encoder: Int
        var health: String
        var ready: Bool
        /// Of its pictures: `composed` or `timecode`.
        var clock: String?
    }

    var state: String
    var source: Int?
    /// The first source is none.
    var switches: Int
    var encoders: [Encoder]
}

extension Gateway {
    /// Makes one on the demo stage.
    func makeRedundantConfiguration() throws -> RedundantConfiguration {
        struct Made: Decodable { var ingestConfiguration: RedundantConfiguration }
        let body = """
            {"stageArn":"\(try #require(quickstart.stageArn))","ingestProtocol":"RTMP","insecureIngest":true,"redundantIngest":true}
            """
        let answer = try signed("CreateIngestConfiguration", ["-H", "Content-Type: application/json", "--data", body])
        return try JSONDecoder().decode(Made.self, from: Data(answer.utf8)).ingestConfiguration
    }

    /// How a participant of two encoders is; nil where this gateway has none of them.
    func redundancy(of participant: String) throws -> RedundantStatus? {
        try? JSONDecoder().decode(RedundantStatus.self, from: Data(try signed("v1/participants/\(participant)/source").utf8))
    }
}

extension Clip {
    /// What two encoders bring that are one participant: numbered pictures, a keyframe every second.
    static let redundant = Clip(
        name: "redundant", video: "testsrc2=s=320x180:r=30", seconds: 120, keyInterval: 30, bitrate: "150k")
}
