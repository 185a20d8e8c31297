import Foundation
import Testing

extension Interop {
    /// Recordings as an application sets them up, and where they then lie.
    @Suite struct RecordedStage {
        private struct Outcome: Decodable {
            var prefix: String?
            var states: [String]
            var faults: [String]
        }

        /// Publishes onto the stage, which is recorded into that bucket, until that is seen.
        /// - Parameter more: further members of the stage's recording, as JSON.
        private func record(_ gateway: Gateway, into bucket: String, _ more: String = "{}") throws -> Outcome {
            let quickstart = gateway.quickstart
            let script = Workspace.package.appending(path: "Tests/Interop/Clients/recorded_stage.py").path
            let encoder = [
                "ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-v", "warning", "-re", "-stream_loop", "-1", "-i",
                try Clip.p30.file(), "-c", "copy", "-t", "300", "-f", "flv", quickstart.publishURL,
            ]
            let run = try ProgramRun(
                ["env", ControlAPI.path, "python3", script, try #require(quickstart.adminURL)]
                    + [try #require(quickstart.accessKeyId), try #require(quickstart.secretAccessKey)]
                    + [try #require(quickstart.stageArn), quickstart.participantId, bucket, more, "--"] + encoder)
            let status = run.status(within: .seconds(600))
            #expect(status == 0, "\(run.output)\n\(gateway.log.suffix(4_000))")
            let line = try #require(run.output.split(separator: "\n").last { $0.hasPrefix("{") })
            return try JSONDecoder().decode(Outcome.self, from: Data(line.utf8))
        }

        private func check(_ outcome: Outcome) {
            #expect(outcome.faults.isEmpty)
            #expect(outcome.states.last == "STOPPED" && outcome.states.contains("ACTIVE"), "\(outcome.states)")
        }

        @Test(.timeLimit(.minutes(12)))
        func `quickstart records into a folder, and says so everywhere`() throws {
            let closed = Workspace.temporaryFile(suffix: ".closed")
            let script = Workspace.package.appending(path: "Tests/Interop/Clients/receiver.py").path
            let receiver = try ProgramRun(["python3", script, closed.path])
            expect("the receiver has a port", within: .seconds(60)) { receiver.output.contains("\n") }
            let port = receiver.output.prefix { $0 != "\n" }
            let gateway = try Gateway(configuration: "webhooks: {application: {url: \"http://127.0.0.1:\(port)/hook\"}}")
            let outcome = try record(gateway, into: "recordings")
            check(outcome)
            let folder = gateway.data.appending(path: "recordings").appending(path: try #require(outcome.prefix))
            let played = try ProgramRun.output(
                of: [
                    "ffprobe", "-v", "error", "-show_entries", "format=duration:stream=codec_name", "-of", "csv=p=0",
                    folder.appending(path: "media/hls/multivariant.m3u8").path,
                ], within: .seconds(60))
            #expect(played.contains("h264") && played.contains("aac"), "\(played)")
            let ended = try document(folder.appending(path: "events/recording-ended.json"))
            #expect(ended["recording_status"] as? String == "RECORDING_ENDED" && ended["version"] as? String == "v1")
            let hls = (ended["media"] as? [String: Any])?["hls"] as? [String: Any]
            let duration = try #require(hls?["duration_ms"] as? Int)
            #expect(duration >= 1_900, "a segment at least")
            #expect(try document(folder.appending(path: "events/recording-started.json"))["recording_ended_at"] == nil)
            try expect("both events reach the webhook", within: .seconds(60)) { try events(receiver).count >= 2 }
            let told = try events(receiver)
            #expect(told.map { $0["event_name"] as? String } == ["Recording Start", "Recording End"])
            #expect(told.last?["recording_duration_ms"] as? Int == duration)
            #expect(told.last?["recording_s3_key_prefix"] as? String == outcome.prefix)
            gateway.stop()
        }

        /// With sound and pictures, and alone.
        @Test(.timeLimit(.minutes(12)), arguments: ["AUDIO_VIDEO", "NONE"])
        func `thumbnails are JPEGs of keyframes, numbered and the latest, and the documents tell of them`(media: String) throws {
            let gateway = try Gateway()
            let thumbnails = #"{"recordingMode": "INTERVAL", "targetIntervalSeconds": 1, "storage": ["SEQUENTIAL", "LATEST"]}"#
            let outcome = try record(
                gateway, into: "recordings", #"{"mediaTypes": ["\#(media)"], "thumbnailConfiguration": \#(thumbnails)}"#)
            check(outcome)
            let folder = gateway.data.appending(path: "recordings").appending(path: try #require(outcome.prefix))
            for name in ["thumbnails/high/1.jpg", "latest_thumbnail/high/thumb.jpg"] {
                let shown = try ProgramRun.output(
                    of: [
                        "ffprobe", "-v", "error", "-show_entries", "stream=codec_name,width,height", "-of", "csv=p=0",
                        folder.appending(path: "media/\(name)").path,
                    ], within: .seconds(60))
                #expect(shown.hasPrefix("mjpeg,1280,720"), "\(shown)")
            }
            let hasSegments = FileManager.default.fileExists(atPath: folder.appending(path: "media/hls").path)
            #expect(hasSegments == (media == "AUDIO_VIDEO"))
            for name in ["started", "ended"] {
                let told = try document(folder.appending(path: "events/recording-\(name).json"))["media"] as? [String: Any]
                #expect((told?["hls"] != nil) == hasSegments, "\(told ?? [:])")
                for kind in ["thumbnails", "latest_thumbnail"] {
                    let described = told?[kind] as? [String: Any]
                    #expect(described?["path"] as? String == "media/\(kind)")
                    #expect(described?["renditions"] as? [[String: String]] == [["path": "high"]])
                }
            }
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(12)))
        func `a recording comes into a store that speaks S3, whatever fails on the way`() throws {
            let store = try ObjectStore(.moto(faults: ["pass", "503", "reset", "slow", "lost", "skew", "429"]))
            let gateway = try Gateway(configuration: store.setting)
            let outcome = try record(gateway, into: ObjectStore.bucket)
            check(outcome)
            let prefix = try #require(outcome.prefix)
            let (folder, objects) = try store.objects()
            try folder.expectHLS()
            let names = objects.keys.map { $0.replacing(prefix + "/", with: "") }.sorted()
            for name in ["events/recording-started.json", "events/recording-ended.json", "media/hls/multivariant.m3u8"] {
                #expect(names.contains(name), "\(names)")
            }
            #expect(names.count { $0.hasPrefix("media/hls/high/") && $0.hasSuffix(".mp4") } >= 2, "\(names)")
            #expect(!names.contains { $0.hasPrefix("stagedoor") }, "the bucket was tried, and nothing of that is left")
            #expect(!gateway.log.contains(ObjectStore.secretKey))
            let metrics = try gateway.admin("metrics")
            #expect(metrics.contains("stagedoor_uploads_total{result=\"stored\"}"))
            gateway.stop()
        }

        private func document(_ file: URL) throws -> [String: Any] {
            try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any] ?? [:]
        }

        /// Details of the recording events that the receiver took, each once.
        private func events(_ receiver: ProgramRun) throws -> [[String: Any]] {
            var seen = Set<String>()
            return receiver.output.split(separator: "\n").compactMap { line in
                guard let json = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                    json["status"] as? Int == 200, let body = json["body"] as? [String: Any],
                    body["detail-type"] as? String == "IVS Participant Recording State Change",
                    seen.insert(body["id"] as? String ?? "").inserted
                else { return nil }
                return body["detail"] as? [String: Any]
            }
        }
    }
}
