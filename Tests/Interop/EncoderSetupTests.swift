import Foundation
import Testing

extension Interop {
    /// Encoders that are told by the gateway what to be set to, as OBS asks it and as a person pastes it.
    @Suite struct EncoderSetup {
        /// The parts of an answer that a publish is made from.
        struct Answer: Decodable {
            struct Status: Decodable {
                var result: String
                var words: String?

                private enum CodingKeys: String, CodingKey {
                    case result
                    case words = "html_en_us"
                }
            }

            struct Endpoint: Decodable {
                var `protocol`: String
                var template: String
                var key: String

                private enum CodingKeys: String, CodingKey {
                    case `protocol`
                    case template = "url_template"
                    case key = "authentication"
                }

                var url: String { template.replacing("{stream_key}", with: key) }
            }

            struct Encoder: Decodable {
                struct Settings: Decodable {
                    var bitrate: Int
                    var seconds: Int
                    var profile: String
                    var preset: String
                    var tune: String
                    var bFrames: Int

                    private enum CodingKeys: String, CodingKey {
                        case bitrate, profile, preset, tune
                        case seconds = "keyint_sec"
                        case bFrames = "bf"
                    }
                }

                struct Rate: Decodable {
                    var numerator: Int
                    var denominator: Int
                }

                var type: String
                var width: Int
                var height: Int
                var framerate: Rate
                var settings: Settings
            }

            struct Audio: Decodable {
                struct Track: Decodable {
                    struct Settings: Decodable { var bitrate: Int }

                    var channels: Int
                    var settings: Settings
                }

                var live: [Track]
            }

            var status: Status
            var endpoints: [Endpoint]
            var encoders: [Encoder]
            var audio: Audio

            private enum CodingKeys: String, CodingKey {
                case status
                case endpoints = "ingest_endpoints"
                case encoders = "encoder_configurations"
                case audio = "audio_configurations"
            }
        }

        @Test(.timeLimit(.minutes(10)))
        func `an encoder publishes with exactly what it is answered, without a warning`() throws {
            let gateway = try Gateway()
            let answer = try Self.ask(gateway, key: gateway.quickstart.streamKey)
            #expect(answer.status.result == "success")
            let endpoint = try #require(answer.endpoints.first { $0.protocol == "RTMP" })
            let file = try Self.encode(answer)
            let capture = try Capture(gateway.sessionDescription)
            let encoder = try ProgramRun([
                "ffmpeg", "-hide_banner", "-nostdin", "-v", "warning", "-re", "-i", file.path, "-c", "copy", "-f", "flv",
                endpoint.url,
            ])
            #expect(encoder.status(within: .seconds(60)) == 0, "\(encoder.output)")
            capture.finish()
            #expect(!gateway.log.contains("contract_warning") && !encoder.output.contains("SD-"), "\(encoder.output)")
            expect("its end in the log", within: .seconds(60)) { gateway.log.contains("\"session_ended\"") }
            #expect(gateway.log.contains(#""picture":"1280x720""#), "\(gateway.log.suffix(2_000))")
            gateway.stop()
            try MediaFile.expectFrames(of: file.path, in: capture.file.path, saidGoodbye: gateway.heardGoodbyes)
        }

        @Test(.timeLimit(.minutes(10)))
        func `a wrong key is told why before anything connects, and who is live is warned of`() throws {
            let gateway = try Gateway()
            let wrong = try Self.ask(gateway, key: "nobody-knows-this-key")
            #expect(wrong.status.result == "error" && wrong.status.words?.hasPrefix("SD-1001: ") == true, "\(wrong)")
            #expect(wrong.endpoints.isEmpty && wrong.encoders.isEmpty)
            expect("a line of it", within: .seconds(60)) { gateway.log.contains("\"client_configuration_refused\"") }
            #expect(!gateway.log.contains("nobody-knows-this-key"))
            #expect(try gateway.metrics().sum("stagedoor_client_configurations_total", #"result="error""#) == 1)
            let first = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            expect("somebody is live", within: .seconds(60)) { (try? gateway.admin("metrics").contains(Self.oneIsLive)) == true }
            let second = try Self.ask(gateway, key: gateway.quickstart.streamKey)
            #expect(second.status.result == "warning" && second.status.words?.hasPrefix("SD-1004: ") == true, "\(second)")
            first.interrupt()
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `what a stream was ended for is told before the next one`() throws {
            let gateway = try Gateway()
            let faulty = try Self.publishWithBFrames(to: gateway.quickstart.publishURL)
            #expect(faulty.output.contains("SD-1042"), "\(faulty.output)")
            let answer = try Self.ask(gateway, key: gateway.quickstart.streamKey)
            #expect(answer.status.result == "warning" && answer.status.words?.contains("SD-1042: ") == true, "\(answer.status)")
            let mended = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: 2)
            #expect(mended.status(within: .seconds(60)) == 0, "told once, and admitted now: \(mended.output)")
            #expect(try Self.ask(gateway, key: gateway.quickstart.streamKey).status.result == "success")
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `the override is quickstart's own, and for nobody without a signature`() throws {
            let gateway = try Gateway()
            let id = try #require(gateway.quickstart.obsConfigOverride?.meta["config_id"])
            let served = try gateway.signedAdmin("v1/ingestConfigurations/\(id)/obs")
            let answer = try JSONDecoder().decode(Answer.self, from: Data(served.utf8))
            #expect(answer.encoders.map(\.type) == ["obs_x264"] && answer.encoders.first?.settings.profile == "baseline")
            #expect(Set(answer.endpoints.map(\.key)) == [gateway.quickstart.streamKey])
            #expect(gateway.log.contains("                {\"meta\":"), "printed to be copied")
            let unsigned = try gateway.admin("v1/ingestConfigurations/\(id)/obs")
            #expect(unsigned.contains("The request is not signed") && !unsigned.contains(gateway.quickstart.streamKey))
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `any node of a platform answers, wherever the key is live and wherever its last stream was ended`() throws {
            let platform = try Platform()
            let publisher = try platform.nodes[0].makePublishers(["set-up"])[0]
            let (here, there) = (platform.nodes[1], platform.nodes[2])
            let target = "\(here.quickstart.rtmpURL)/\(publisher.streamKey)"
            #expect(try Self.ask(there, key: publisher.streamKey).status.result == "success")
            _ = try Self.publishWithBFrames(to: target)
            try expect("another node tells what it was ended for", within: .seconds(60)) {
                let told = try Self.ask(there, key: publisher.streamKey).status
                return told.result == "warning" && told.words?.contains("B_FRAME_PRESENT") == true
            }
            _ = try Self.ask(here, key: publisher.streamKey)
            let encoder = try Encoder.ffmpeg(.p30, to: target, seconds: Encoder.untilStopped)
            expect("live\n\(here.log.suffix(2_000))", within: .seconds(60)) {
                here.logged("rtmp_publish_granted").contains { $0.participant == publisher.rtmpParticipantId }
            }
            expect("another node says so", within: .seconds(60)) {
                (try? Self.ask(there, key: publisher.streamKey).status.words?.hasPrefix("SD-1004: ")) == true
            }
            encoder.interrupt()
            platform.stop()
        }

        private static let seconds = 5
        private static let oneIsLive = #"stagedoor_sessions{protocol="rtmp",state="live"} 1"#

        /// To its end, which comes at once.
        private static func publishWithBFrames(to url: String) throws -> ProgramRun {
            let clip = ContractClip(
                "B-frames, to be told of before the next stream",
                ContractClip.picture("320x180") + ContractClip.sound() + ContractClip.x264(["-profile:v", "main", "-bf", "2"])
                    + ContractClip.aac)
            let run = try ProgramRun([
                "ffmpeg", "-hide_banner", "-nostdin", "-v", "warning", "-re", "-i", try clip.file().path, "-c", "copy", "-f",
                "flv",
                url,
            ])
            _ = run.status(within: .seconds(60))
            return run
        }

        /// Asks as OBS 32 does, of a machine with two cores and no graphics card.
        static func ask(_ gateway: Gateway, key: String) throws -> Answer {
            let body = """
                {"service": "IVS", "schema_version": "2025-01-25", "authentication": "\(key)",
                 "client": {"name": "obs-studio", "version": "32.2.2", "supported_codecs": ["h264"]},
                 "capabilities": {"cpu": {"physical_cores": 2, "logical_cores": 2, "speed": null, "name": null},
                   "memory": {"total": 1, "free": 1}, "gaming_features": null, "gpu": null,
                   "system": {"version": "13", "name": "Debian GNU/Linux", "build": 0, "release": "", "revision": "", "bits": 64,
                     "arm": false, "armEmulation": false}},
                 "preferences": {"maximum_aggregate_bitrate": null, "maximum_video_tracks": null, "vod_track_audio": false,
                   "composition_gpu_index": 0, "audio_samples_per_sec": 48000, "audio_channels": 2,
                   "audio_max_buffering_ms": 960, "audio_fixed_buffering": false,
                   "canvases": [{"width": 1920, "height": 1080, "canvas_width": 1920, "canvas_height": 1080,
                     "framerate": {"numerator": 30, "denominator": 1}}]}}
                """
            let site = try #require(gateway.quickstart.whipURL).replacing("/whip", with: "")
            let answer = try ProgramRun.output(
                of: [
                    "curl", "-sS", "--fail", "--max-time", "50", "-H", "Content-Type: application/json", "-d", body,
                    "\(site)/api/v3/GetClientConfiguration",
                ], within: .seconds(60))
            return try JSONDecoder().decode(Answer.self, from: Data(answer.utf8))
        }

        /// A stream as those settings make it.
        private static func encode(_ answer: Answer) throws -> URL {
            let (encoder, audio) = (try #require(answer.encoders.first), try #require(answer.audio.live.first))
            #expect(encoder.type == "obs_x264")
            let (settings, rate) = (encoder.settings, encoder.framerate)
            let file = Workspace.temporaryFile(suffix: ".flv")
            _ = try ProgramRun.output(
                of: [
                    "ffmpeg", "-hide_banner", "-nostdin", "-v", "error", "-f", "lavfi", "-i",
                    "testsrc2=s=\(encoder.width)x\(encoder.height):r=\(rate.numerator)/\(rate.denominator)", "-f", "lavfi", "-i",
                    "sine=r=48000", "-t", "\(seconds)", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-profile:v", settings.profile,
                    "-preset", settings.preset, "-tune", settings.tune, "-bf", "\(settings.bFrames)", "-g",
                    "\(settings.seconds * rate.numerator / rate.denominator)", "-b:v", "\(settings.bitrate)k", "-maxrate",
                    "\(settings.bitrate)k", "-bufsize", "\(settings.bitrate)k", "-nal-hrd", "cbr", "-c:a", "aac", "-ac",
                    "\(audio.channels)", "-b:a", "\(audio.settings.bitrate)k", file.path,
                ], within: .seconds(120))
            return file
        }
    }
}
