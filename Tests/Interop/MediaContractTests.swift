import Foundation
import Testing

extension Interop {
    /// The media contract as encoders meet it.
    @Suite struct MediaContract {
        /// What OBS sends with untouched x264 settings: High, 2 B-frames, a keyframe every 250 frames.
        static let untouched: Clip = {
            var clip = Clip(name: "untouched x264", seconds: 12)
            (clip.profile, clip.bFrames, clip.keyInterval, clip.bitrate) = ("high", 2, 250, "2500k")
            clip.x264 = "keyint=250"
            return clip
        }()

        @Test(.timeLimit(.minutes(10)))
        func `an encoder hears its three faults, hears them once more, and is admitted when they are mended`() throws {
            let gateway = try Gateway()
            var sentences: [String] = []
            for _ in 0..<2 {
                let encoder = try Encoder.ffmpeg(Self.untouched, to: gateway.quickstart.publishURL)
                let status = try #require(encoder.status(within: .seconds(60)))
                #expect(status != 0)
                for words in ["SD-1042", "2 B-frames", "High profile", "keyframe every 8.3 s", "-bf 0", "-profile:v baseline"] {
                    #expect(encoder.output.contains(words), "\(words) in \(encoder.output)")
                }
                sentences += encoder.output.split(separator: "\n").filter { $0.contains("SD-1042") }.map(Self.sentence).prefix(1)
            }
            #expect(sentences.count == 2 && sentences[0] == sentences[1], "\(sentences)")
            let mended = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL)
            #expect(mended.status(within: .seconds(60)) == 0, "\(mended.output)")
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `rules that only warn let the stream pass and count`() throws {
            let gateway = try Gateway(
                configuration: """
                    contract:
                      bFrames: {action: warn}
                      profile: {action: warn}
                    """)
            let encoder = try Encoder.ffmpeg(Self.untouched, to: gateway.quickstart.publishURL, seconds: 6)
            #expect(encoder.status(within: .seconds(60)) == 0, "\(encoder.output)")
            let metrics = try gateway.admin("metrics")
            for rule in ["bFrames", "videoProfile"] {
                #expect(metrics.contains("stagedoor_contract_warnings_total{rule=\"\(rule)\"} 1"), "\(metrics)")
            }
            let warnings = try gateway.events { $0.count { $0.rule != nil } >= 3 }.filter { $0.rule != nil }
            #expect(warnings.compactMap(\.rule).sorted() == ["bFrames", "keyframeInterval", "videoProfile"], "each rule once")
            let story = try gateway.signed("v1/sessions")
            for rule in warnings.compactMap(\.rule) { #expect(story.contains("\"rule\":\"\(rule)\""), "\(story)") }
            #expect(warnings.contains { $0.message?.contains("-profile:v baseline") == true }, "\(warnings)")
            gateway.stop()
        }

        /// From the code on, without the log prefix, which has addresses in it.
        private static func sentence(_ line: Substring) -> String {
            line.range(of: "SD-1042").map { String(line[$0.lowerBound...]) } ?? ""
        }
    }
}
