import Foundation
import TestSupport
import Testing

extension Interop {
    /// A recording goes on at another node of the cluster.
    @Suite struct RecordedCluster {
        private let folder = RecordingFolder()

        private func platform() throws -> Platform {
            let platform = try Platform(2, extra: "storage: {shared: {directory: \"\(folder.url.path)\"}}")
            try platform.nodes[0].recordDemoStage(into: "shared", window: 60)
            return platform
        }

        @Test(.timeLimit(.minutes(12)))
        func `it is one recording, ended once, where its node was killed and its encoder came back elsewhere`() throws {
            let platform = try platform()
            let encoder = try publish(at: platform.nodes[0])
            expect("two segments\n\(platform.nodes[0].log.suffix(2_000))", within: .seconds(60)) { folder.segments >= 2 }
            platform.nodes[0].kill()
            encoder.kill()
            let former = folder.segments

            let node = platform.nodes[1]
            let back = try publish(at: node)
            expect("it goes on\n\(node.log.suffix(4_000))", within: .seconds(60)) { folder.segments >= former + 2 }
            #expect(folder.playlists.count == 1 && !folder.hasEnded(1))
            // Who was killed finds in its spool what it has no more.
            try platform.restart(0)
            expect("it is left\n\(platform.nodes[0].log.suffix(4_000))", within: .seconds(60)) {
                platform.nodes[0].log.contains("recording_taken_over")
            }
            back.interrupt()
            expect("it is over\n\(node.log.suffix(4_000))", within: .seconds(150)) { folder.hasEnded(1) }
            try expectOne(at: node)
            #expect(try FileManager.default.contentsOfDirectory(atPath: platform.nodes[0].data.path + "/spool").isEmpty)
            platform.stop()
        }

        @Test(.timeLimit(.minutes(12)))
        func `nothing is left out of it where the encoder goes from one living node to another`() throws {
            let platform = try platform()
            var frames = 0
            for node in platform.nodes {
                let former = folder.segments
                let encoder = try publish(at: node)
                expect("segments\n\(node.log.suffix(4_000))", within: .seconds(60)) { folder.segments >= former + 2 }
                encoder.interrupt()
                expect("it ends", within: .seconds(60)) { node.logged("rtmp_publish_ended").count == 1 }
                frames += node.logged("rtmp_publish_ended")[0].videoFrames ?? 0
            }
            expect("it is over\n\(platform.nodes[1].log.suffix(4_000))", within: .seconds(150)) { folder.hasEnded(1) }
            try expectOne(at: platform.nodes[0])
            let recorded = try MediaFile.frameDigests(try #require(folder.playlists.first)).count
            // The recorder orders packets, and the last picture of a publish may have no end.
            #expect((frames - 4...frames).contains(recorded), "\(recorded) of \(frames)")
            platform.stop()
        }

        private func publish(at node: Gateway) throws -> ProgramRun {
            // Whoever's former node died is refused until its lease has run out.
            var run = try Encoder.ffmpeg(.redundant, to: node.quickstart.publishURL, seconds: Encoder.untilStopped)
            try expect("it publishes\n\(node.log.suffix(2_000))", within: .seconds(60)) {
                if !node.logged("rtmp_publish_granted").isEmpty { return true }
                if !run.isRunning {
                    run = try Encoder.ffmpeg(.redundant, to: node.quickstart.publishURL, seconds: Encoder.untilStopped)
                }
                return false
            }
            return run
        }

        /// One playlist of two parts that plays, and each event and document once.
        private func expectOne(at node: Gateway) throws {
            try folder.expectHLS()
            let path = try #require(folder.playlists.first)
            let playlist = try String(contentsOfFile: path, encoding: .utf8)
            #expect(playlist.split(separator: "\n").count { $0 == "#EXT-X-DISCONTINUITY" } == 1, "\(playlist)")
            #expect(try MediaFile.steadyPacketTimes(path, stream: "v:0").count > 30)
            let told = try node.events { $0.contains { $0.name == "Recording End" } }.map(\.name)
            #expect(told.count { $0 == "Recording Start" } == 1 && told.count { $0 == "Recording End" } == 1, "\(told)")
            let events = path.dropLast("media/hls/high/playlist.m3u8".count) + "events"
            let documents = try FileManager.default.contentsOfDirectory(atPath: String(events)).sorted()
            #expect(documents == ["recording-ended.json", "recording-started.json"])
        }
    }
}

extension Gateway {
    /// What CreateStorageConfiguration answers to that bucket of the configuration.
    func makeStorageConfiguration(_ bucket: String) throws -> String {
        try signed(
            "CreateStorageConfiguration",
            ["-H", "Content-Type: application/json", "--data", #"{"s3":{"bucketName":"\#(bucket)"}}"#])
    }

    /// Has everybody on the demo stage recorded into a bucket of the configuration, in segments of 2 s.
    func recordDemoStage(into bucket: String, window: Int) throws {
        struct Made: Decodable {
            struct Storage: Decodable { var arn: String }
            var storageConfiguration: Storage
        }
        let answer = try makeStorageConfiguration(bucket)
        let storage = try JSONDecoder().decode(Made.self, from: Data(answer.utf8)).storageConfiguration.arn
        let recording = """
            {"storageConfigurationArn":"\(storage)","recordingReconnectWindowSeconds":\(window),\
            "hlsConfiguration":{"targetSegmentDurationSeconds":2}}
            """
        let body = #"{"arn":"\#(try #require(quickstart.stageArn))","autoParticipantRecordingConfiguration":\#(recording)}"#
        #expect(try signed("UpdateStage", ["-H", "Content-Type: application/json", "--data", body]).contains(storage))
    }
}
