import Foundation
import Testing

extension Interop {
    /// Several renditions in one RTMP stream (Enhanced RTMP v2).
    @Suite struct Multitrack {
        static let ladder = ["1280x720@2500", "640x360@700", "320x180@200"]

        @Test(.timeLimit(.minutes(10)))
        func `ffmpeg's three tracks are three layers, and the first is decoded at the router`() throws {
            let gateway = try Gateway()
            let capture = try Capture(gateway.sessionDescription)
            let publisher = try Self.ffmpeg(seconds: 10, to: gateway, Self.ladder)
            #expect(publisher.status(within: .seconds(240)) == 0, "\(publisher.output)\n\(gateway.log.suffix(4_000))")
            capture.finish()
            let layers = try Self.layers(gateway)
            let saidGoodbye = gateway.heardGoodbyes
            if saidGoodbye {
                #expect(layers == ["0: 1280x720, 300 frames", "1: 640x360, 300 frames", "2: 320x180, 300 frames"])
            } else {
                #expect(layers.map { $0.split(separator: ",")[0] } == ["0: 1280x720", "1: 640x360", "2: 320x180"])
            }
            #expect(!gateway.log.contains("rtmp_tracks_passed_over"), "\(gateway.log.suffix(4_000))")
            let frames = try MediaFile.frameDigests(capture.file.path).count
            print("ffmpeg's three tracks: \(frames) frames decoded at the router")
            #expect(frames >= (saidGoodbye ? 290 : 150), "\(capture.output)")
            gateway.stop()
        }

        /// The first publish brings the description, which the receiver of the second one reads.
        @Test(.timeLimit(.minutes(10)))
        func `each of ffmpeg's three tracks is decoded where all layers go`() throws {
            let first = Gateway.freeRouterPorts(16)
            let gateway = try Gateway(
                routers: "  all: {driver: static, host: \"127.0.0.1\", ports: \"\(first)-\(first + 15)\", layers: all}")
            let describing = try Self.ffmpeg(seconds: 2, to: gateway, Self.ladder)
            #expect(describing.status(within: .seconds(240)) == 0, "\(describing.output)\n\(gateway.log.suffix(4_000))")
            let capture = try Capture(gateway.sessionDescription)
            let publisher = try Self.ffmpeg(seconds: 10, to: gateway, Self.ladder)
            #expect(publisher.status(within: .seconds(240)) == 0, "\(publisher.output)\n\(gateway.log.suffix(4_000))")
            capture.finish()
            let frames = try MediaFile.frameDigests(capture.file.path).count
            print("ffmpeg's three tracks, all layers: \(frames) frames")
            gateway.stop()
            #expect(frames >= (gateway.heardGoodbyes ? 870 : 450), "\(capture.output)")
        }

        /// Track 1 stands upright, track 2 is HEVC, and of the other five, the last one has the fewest bits.
        @Test(.timeLimit(.minutes(10)))
        func `tracks that are no layers are named, and the others live`() throws {
            let gateway = try Gateway()
            let tracks = ["1280x720@2000", "360x640@300", "640x360@300:libx265", "320x180@100", "960x540@1200", "640x360@500"]
            let publisher = try Self.ffmpeg(seconds: 12, to: gateway, audioTracks: 2, tracks)
            #expect(publisher.status(within: .seconds(240)) == 0, "\(publisher.output)\n\(gateway.log.suffix(4_000))")
            let layers = try Self.layers(gateway)
            #expect(layers.map { $0.split(separator: ",")[0] } == ["0: 1280x720", "4: 960x540", "5: 640x360"])
            let id = try #require(gateway.log.firstMatch(of: /"session":"([^"]+)"[^\n]*/).map { String($0.1) })
            let session = try gateway.signedAdmin("v1/sessions/\(id)")
            for words in [
                "video track 1 (360x640): its shape is not that of track 0", "video track 2 (HEVC (H.265)",
                "video track 3 (320x180): there are three layers of higher bitrates", "audio track 1 (AAC): one track of audio",
            ] { #expect(session.contains(words), "\(words) in \(session)") }
            gateway.stop()
        }

        /// Shaped as OBS sends them: track 2 begins after 30 s, track 0 ends after 60.
        @Test(.timeLimit(.minutes(10)))
        func `a late track joins, and the publish outlives its first track`() throws {
            let gateway = try Gateway()
            let publisher = try Encoder.multitrack(
                to: gateway, seconds: Encoder.untilStopped, options: ["--rest", "2:0-30", "--rest", "0:60-"])
            for active in [[true, true, false], [true, true, true], [false, true, true]] {
                try expect("\(active)", within: .seconds(60)) { try gateway.liveLayers().map(\.active) == active }
            }
            #expect(try gateway.liveLayers().map(\.rid) == ["0", "1", "2"])
            publisher.interrupt()
            #expect(try Self.layers(gateway).count == 3)
            gateway.stop()
        }

        /// Its muxer gives each pad its own number, track 0 as plain H.264.
        @Test(.timeLimit(.minutes(10)), .enabled(if: Forky.isAsked, Forky.reason))
        func `GStreamer's three tracks are three layers`() throws {
            let gateway = try Gateway()
            let script = Workspace.package.appending(path: "Tests/Interop/Clients/gst_multitrack.py")
            let copy = Workspace.temporaryFile(suffix: ".py")
            try FileManager.default.copyItem(at: script, to: copy)
            let publisher = try ProgramRun(
                Forky.command(["/usr/bin/python3", copy.path, "10", gateway.quickstart.publishURL]))
            #expect(publisher.status(within: .seconds(120)) == 0, "\(publisher.output)\n\(gateway.log.suffix(4_000))")
            let layers = try Self.layers(gateway)
            print("GStreamer's eflvmux: \(layers)")
            #expect(layers.map { $0.split(separator: ",")[0] } == ["0: 1280x720", "1: 640x360", "2: 320x180"])
            gateway.stop()
        }

        /// A pasted configuration with three encoders, its keyframes aligned by OBS.
        @Test(.timeLimit(.minutes(10)), .enabled(if: Forky.isAsked, Forky.reason))
        func `OBS's three renditions are three layers`() throws {
            let gateway = try Gateway()
            let capture = try Capture(gateway.sessionDescription)
            let id = try #require(gateway.quickstart.obsConfigOverride?.meta["config_id"])
            let json = try Self.threefold(try gateway.signedAdmin("v1/ingestConfigurations/\(id)/obs"))
            let obs = try OBS(to: gateway.quickstart.rtmpURL, key: gateway.quickstart.streamKey, .override(json))
            expect("OBS streams", within: .seconds(120)) { capture.byteCount > 400_000 || !obs.isRunning }
            #expect(obs.stop() == 0, "\(obs.output.suffix(4_000))")
            capture.finish()
            let layers = try Self.layers(gateway)
            print("OBS's three renditions: \(layers)")
            #expect(
                layers.map { $0.split(separator: ",")[0] } == ["0: 1280x720", "1: 640x360", "2: 320x180"],
                "\(obs.output.suffix(4_000))")
            #expect(try MediaFile.frameDigests(capture.file.path).count > 30)
            #expect(!obs.output.contains("SD-"), "\(obs.output.suffix(4_000))")
            gateway.stop()
        }

        /// What the log tells of a publish that its encoder ended.
        private static func layers(_ gateway: Gateway) throws -> [String] {
            expect("its end in the log", within: .seconds(60)) { gateway.log.contains("\"rtmp_publish_ended\"") }
            let told = gateway.log.firstMatch(of: /"rtmp_publish_ended"[^\n]*"layers":"([^"]*)"/)
            return try #require(told, "\(gateway.log.suffix(4_000))").1.components(separatedBy: "; ")
        }

        private static func ffmpeg(
            seconds: Int, to gateway: Gateway, audioTracks: Int = 1, _ tracks: [String]
        ) throws -> ProgramRun {
            let python = Workspace.package.appending(path: ".deps/venv/bin/python").path
            let client = Workspace.package.appending(path: "Tests/Interop/Clients/multitrack_rtmp.py").path
            return try ProgramRun([python, client, "\(seconds)", gateway.quickstart.publishURL, "\(audioTracks)"] + tracks)
        }

        /// The gateway's answer with two smaller renditions of its one encoder.
        private static func threefold(_ json: String) throws -> String {
            var document = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
            let first = try #require((document["encoder_configurations"] as? [[String: Any]])?.first)
            let settings = try #require(first["settings"] as? [String: Any])
            document["encoder_configurations"] = [(1_280, 720, 1_500), (640, 360, 600), (320, 180, 200)].map { rendition in
                let (width, height, kilobits) = rendition
                return first.merging(
                    ["width": width, "height": height, "settings": settings.merging(["bitrate": kilobits]) { $1 }]) { $1 }
            }
            let bytes = try JSONSerialization.data(withJSONObject: document, options: [.sortedKeys, .withoutEscapingSlashes])
            return String(decoding: bytes, as: UTF8.self)
        }
    }
}
