import Foundation
import Testing

extension Interop {
    /// OBS Studio 32, the program most streamers use.
    @Suite(.enabled(if: Forky.isAsked, Forky.reason)) struct OBSStudio {
        @Test(.timeLimit(.minutes(10)), arguments: [false, true])
        func `streams for 20 s, stops, and starts again at once`(overTLS: Bool) throws {
            let gateway = try Gateway()
            let quickstart = gateway.quickstart
            let server = overTLS ? try #require(quickstart.rtmpsURL) : quickstart.rtmpURL
            let authority = overTLS ? quickstart.caCertificate : nil
            for (round, seconds) in [20, 5].enumerated() {
                let capture = try Capture(gateway.sessionDescription)
                let obs = try OBS(to: server, key: quickstart.streamKey, settings: .mended, trusting: authority)
                expect("OBS streams", within: .seconds(60)) { capture.byteCount > 0 || !obs.isRunning }
                let wanted = try Self.pictures(of: gateway) + Double(seconds * 30)
                try expect("\(seconds) s of pictures", within: .seconds(120)) {
                    try Self.pictures(of: gateway) >= wanted || !obs.isRunning
                }
                #expect(obs.stop() == 0, "\(obs.output.suffix(4_000))")
                expect("the key is free", within: .seconds(60)) { Self.unpublished(gateway).count == round + 1 }
                capture.finish()
                let frames = try MediaFile.frameDigests(capture.file.path).count
                print("OBS over \(overTLS ? "RTMPS" : "RTMP"): \(frames) frames in \(seconds) s")
                #expect(frames >= (seconds - 1) * 30, "\(obs.output.suffix(4_000))")
                let ended = try #require(Self.unpublished(gateway).last)
                #expect(ended.contains("\"video_frames\":\(frames),"), "all that came is forwarded: \(ended)")
                let audio = try MediaFile.steadyPacketTimes(capture.file.path, stream: "a:0")
                #expect(audio.count >= (seconds - 1) * 50)
                #expect(!obs.output.contains("SD-"), "\(obs.output.suffix(4_000))")
            }
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `does not stream to a gateway whose authority it does not know`() throws {
            let gateway = try Gateway()
            let server = try #require(gateway.quickstart.rtmpsURL)
            let obs = try OBS(to: server, key: gateway.quickstart.streamKey, settings: .mended)
            expect("it says why", within: .seconds(60)) { obs.output.contains("Cert verify failed") }
            _ = obs.stop()
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `with untouched settings its log names the three faults, and with them mended it streams`() throws {
            let gateway = try Gateway()
            let quickstart = gateway.quickstart
            let untouched = try OBS(to: quickstart.rtmpURL, key: quickstart.streamKey, settings: .untouched)
            let words = ["SD-1042", "B-frames", "High profile", "keyframe every 8.3 s"]
            expect("its log tells", within: .seconds(60)) { words.allSatisfy(untouched.output.contains) || !untouched.isRunning }
            for word in words { #expect(untouched.output.contains(word), "\(untouched.output.suffix(6_000))") }
            print("OBS untouched: \(untouched.output.split(separator: "\n").first { $0.contains("SD-1042") } ?? "-")")
            _ = untouched.stop()
            let capture = try Capture(gateway.sessionDescription)
            let mended = try OBS(to: quickstart.rtmpURL, key: quickstart.streamKey, settings: .mended)
            expect("the mended stream arrives", within: .seconds(60)) { capture.byteCount > 500_000 }
            #expect(!mended.output.contains("SD-"), "\(mended.output.suffix(6_000))")
            #expect(mended.stop() == 0)
            gateway.stop()
        }

        private static func pictures(of gateway: Gateway) throws -> Double {
            try gateway.metrics().sum("stagedoor_rx_frames_total", "kind=\"video\"")
        }

        /// The log's lines of streams that ended as their encoder wished.
        private static func unpublished(_ gateway: Gateway) -> [Substring] {
            gateway.log.split(separator: "\n")
                .filter { $0.contains("rtmp_publish_ended") && $0.contains("\"reason\":\"unpublished\"") }
        }
    }
}
