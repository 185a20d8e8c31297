import Foundation
import Testing

extension Interop {
    /// `GET /v1/stages/{id}/metrics` while an encoder of each protocol publishes.
    @Suite struct StageMetrics {
        private struct Answer: Decodable {
            struct Dimension: Decodable { var name, value: String }
            struct Datapoint: Decodable {
                var timestamp: String
                var average, minimum, maximum: Double
                var sampleCount: Int
            }
            struct Metric: Decodable {
                var metricName, unit: String
                var dimensions: [Dimension]
                var datapoints: [Datapoint]

                func value(_ name: String) -> String? { dimensions.first { $0.name == name }?.value }
            }

            var namespace: String
            var period: Int
            var metrics: [Metric]
        }

        @Test(.timeLimit(.minutes(10)))
        func `the names of CloudWatch have what the encoders send`() throws {
            let gateway = try Gateway()
            let quickstart = gateway.quickstart
            let encoder = try Encoder.ffmpeg(.p30, to: quickstart.publishURL, seconds: Encoder.untilStopped)
            let whip = try ProgramRun([
                WHIP.python, WHIP.script("aiortc_whip.py"), "\(Encoder.untilStopped)",
                try #require(quickstart.whipURL), try #require(quickstart.whipToken),
            ])
            let whipParticipant = try #require(quickstart.whipParticipantId)
            let path = "/v1/stages/\(try #require(quickstart.stageId))/metrics"
            var answer = try Self.ask(gateway, path)
            func series(_ name: String, of participant: String?, _ media: String? = nil) -> Answer.Metric? {
                answer.metrics.first {
                    $0.metricName == name && $0.value("Participant") == participant && $0.value("MediaType") == media
                }
            }
            try expect("both publishers sampled", within: .seconds(60)) {
                answer = try Self.ask(gateway, path)
                let frames = series("PublishFramerate", of: quickstart.participantId)?.datapoints.last
                let bits = series("PublishBitrate", of: quickstart.participantId, "video")?.datapoints.last
                let resolution = series("PublishResolution", of: whipParticipant, "video")
                // Once there were seconds in which the encoder had its CPU.
                return (frames?.sampleCount ?? 0) >= 4 && resolution != nil && (15...45).contains(frames?.average ?? 0)
                    && (300_000...1_200_000).contains(bits?.average ?? 0)
            }
            #expect(answer.namespace == "AWS/IVSRealTime" && answer.period == 60)
            #expect(series("Publishers", of: nil)?.datapoints.map(\.maximum).max() == 2)
            let frames = try #require(series("PublishFramerate", of: quickstart.participantId))
            let rate = try #require(frames.datapoints.last).average
            #expect(frames.unit == "Count/Second" && (15...45).contains(rate), "\(frames)")
            let video = try #require(series("PublishBitrate", of: quickstart.participantId, "video"))
            let bitrate = try #require(video.datapoints.last).average
            #expect(video.value("SimulcastLayer") == "no-rid" && video.unit == "Bits/Second")
            #expect((300_000...1_200_000).contains(bitrate), "\(video)")
            #expect(series("PublishBitrate", of: quickstart.participantId, "audio")?.value("SimulcastLayer") == "disabled")
            #expect(series("PublishResolution", of: quickstart.participantId, "video")?.datapoints.last?.maximum == 720)
            #expect(series("PublishFramerate", of: whipParticipant) == nil, "RTMP publishers only")
            whip.send(SIGUSR2)
            #expect(whip.status(within: .seconds(60)) == 0, "\(whip.output)")
            expect("WHIP's summary", within: .seconds(60)) {
                gateway.log.contains(/"session_ended".*"protocol":"whip".*"verdict":"The encoder ended its publish/)
            }
            encoder.interrupt()
            gateway.stop()
        }

        /// Signed by curl, as an operator would.
        private static func ask(_ gateway: Gateway, _ path: String) throws -> Answer {
            let quickstart = gateway.quickstart
            let key = "\(try #require(quickstart.accessKeyId)):\(try #require(quickstart.secretAccessKey))"
            let text = try ProgramRun.output(
                of: [
                    "curl", "-sS", "--fail-with-body", "--max-time", "50", "--aws-sigv4", "aws:amz:us-east-1:ivs", "--user", key,
                    try #require(quickstart.adminURL) + path,
                ], within: .seconds(60))
            return try JSONDecoder().decode(Answer.self, from: Data(text.utf8))
        }
    }
}
