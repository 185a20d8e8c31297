import Foundation
import Testing

extension Interop {
    /// What an encoder sends is what its recording holds, by ffmpeg's own reading of it.
    @Suite struct Recording {
        @Test(.timeLimit(.minutes(10)), arguments: [Clip.p30, .slices])
        func `every frame that RTMP brought is in the recording, and its AAC as it came`(clip: Clip) throws {
            let folder = RecordingFolder()
            let gateway = try recorded(into: folder) { try Encoder.ffmpeg(clip, to: $0.publishURL) }
            let playlist = try #require(folder.playlists.first)
            try MediaFile.expectFrames(of: clip.file(), in: playlist, saidGoodbye: gateway.heardGoodbyes)
            // Not a packet of sound is another one than the encoder's. What came before the first picture is left out, and of the
            // last what ffmpeg's kernel has dropped.
            let (sent, kept) = (try MediaFile.packetDigests(clip.file(), of: "a"), try MediaFile.packetDigests(playlist, of: "a"))
            #expect(kept.count >= (gateway.heardGoodbyes ? sent.count - 12 : sent.count / 2))
            #expect((0...10).contains { Array(sent.dropFirst($0).prefix(kept.count)) == kept })
            #expect(try MediaFile.steps(playlist, stream: "a:0").allSatisfy { abs($0 - 1_024.0 / 48_000) < 0.001 })
            try folder.expectHLS(codecs: "avc1.42")
            #expect(try MediaFile.formats(ofFirstSegment: playlist) == "AVC 1280x720, AAC 48000")
        }

        @Test(.timeLimit(.minutes(10)), arguments: [(48_000, 2), (44_100, 1)])
        func `flash and beep stay within 40 ms`(sampleRate: Int, channels: Int) throws {
            let clip = Clip.flashAndBeep(sampleRate: sampleRate, channels: channels)
            let folder = RecordingFolder()
            let gateway = try recorded(into: folder) { try Encoder.ffmpeg(clip, to: $0.publishURL) }
            let (flashes, beeps) = try MediaFile.flashesAndBeeps(try #require(folder.playlists.first))
            #expect(flashes.count >= (gateway.heardGoodbyes ? clip.seconds - 2 : clip.seconds / 2))
            for flash in flashes.dropLast() where flash < Double(clip.seconds) - 0.5 {
                let beep = try #require(beeps.min { abs($0 - flash) < abs($1 - flash) })
                #expect(abs(beep - flash) < 0.04)
            }
        }

        /// As it came, and made into AAC.
        @Test(.timeLimit(.minutes(10)), arguments: [("original", "opus", "opus"), ("aac", "mp4a.40.2", "aac")])
        func `WHIP's pictures and its sound are recorded`(audio: String, name: String, codec: String) throws {
            let folder = RecordingFolder()
            let gateway = try Gateway(configuration: "recording: {directory: \"\(folder.url.path)\", audio: \(audio)}")
            let client = try WHIPClient.aiortc(gateway, seconds: Encoder.untilStopped)
            try gateway.awaitWHIP(pictures: 100, sounds: 200, from: client)
            client.send(SIGUSR2)
            #expect(client.status(within: .seconds(60)) == 0, "\(client.output)")
            expect("it is over\n\(gateway.log.suffix(2_000))", within: .seconds(60)) { folder.hasEnded(1) }
            gateway.stop()
            let playlist = try #require(folder.playlists.first)
            #expect(try MediaFile.frameDigests(playlist).count > 30)
            #expect(try MediaFile.decodedSounds(playlist) > 100)
            let read = try ProgramRun.output(
                of: [
                    "ffprobe", "-v", "error", "-select_streams", "a", "-show_entries", "stream=codec_name", "-of", "csv=p=0",
                    playlist,
                ], within: .seconds(60))
            #expect(read.contains(codec), "\(read)")
            let steps = try MediaFile.steps(playlist, stream: "a:0")
            if codec == "aac" { #expect(steps.allSatisfy { abs($0 - 1_024.0 / 48_000) < 0.001 }, "\(steps)") }
            try folder.expectHLS(codecs: "avc1.42", name)
            let formats = try MediaFile.formats(ofFirstSegment: playlist)
            #expect(formats.hasPrefix("AVC ") && formats.lowercased().hasSuffix("\(codec) 48000"), "\(formats)")
        }

        @Test(.timeLimit(.minutes(10)))
        func `what was journalled before a kill -9 plays after the next start, which ends it once`() throws {
            try Self.survive(kills: 5)
        }

        /// Kills the gateway in one recording after the other, each at another moment, and looks at
        /// what the next start makes of it.
        static func survive(kills count: Int) throws {
            let folder = RecordingFolder()
            let sent = try MediaFile.frameDigests(Clip.long.file())
            var gateway = try Gateway(configuration: folder.setting)
            for round in 0..<count {
                let encoder = try Encoder.ffmpeg(.long, to: gateway.quickstart.publishURL)
                // In the first segments, whose parts are of a second, and between parts.
                expect("parts\n\(gateway.log.suffix(2_000))", within: .seconds(60)) {
                    Self.journalled(in: gateway.data) > round % 4
                }
                letPass(.milliseconds(round * 83 % 1_000))
                gateway.kill()
                encoder.kill()
                let journalled = Self.journalled(in: gateway.data)
                gateway = try Gateway(configuration: folder.setting, data: gateway.data)
                expect("it is ended\n\(gateway.log.suffix(2_000))", within: .seconds(60)) { folder.hasEnded(round + 1) }
                let frames = try MediaFile.frameDigests(try #require(folder.playlists.last))
                #expect(frames.count >= journalled * 29, "round \(round)")
                #expect(Array(sent.prefix(frames.count)) == frames, "round \(round)")
                try folder.expectHLS(codecs: "avc1.42", "mp4a.40.2")
            }
            let told = try gateway.events { $0.count { $0.name == "Recording End" } >= count }.map(\.name)
            for name in ["Recording Start", "Recording End"] { #expect(told.count { $0 == name } == count, "\(told)") }
            gateway.stop()
            #expect(try FileManager.default.contentsOfDirectory(atPath: gateway.data.path + "/spool").isEmpty)
        }

        @Test(.timeLimit(.minutes(10)))
        func `both encoders of a redundant ingest are recorded, each by itself, and what the stage sees of them is not`() throws {
            let folder = RecordingFolder()
            let gateway = try Gateway(configuration: folder.setting)
            let made = try gateway.makeRedundantConfiguration()
            let encoders = try [1, 2].map { number in
                try Encoder.ffmpeg(.p30, to: "\(gateway.quickstart.rtmpURL)/\(made.streamKey(number))")
            }
            for encoder in encoders { #expect(encoder.status(within: .seconds(300)) == 0, "\(encoder.output)") }
            expect("both are over\n\(gateway.log.suffix(2_000))", within: .seconds(60)) { folder.hasEnded(2) }
            gateway.stop()
            try folder.expectHLS()
            let recorded = Set(folder.playlists.map { $0.dropFirst(folder.url.path.count).split(separator: "/")[2] })
            #expect(recorded == Set(made.redundantIngestCredentials.map { Substring($0.participantId) }))
            for playlist in folder.playlists {
                try MediaFile.expectFrames(of: Clip.p30.file(), in: playlist, saidGoodbye: gateway.heardGoodbyes)
            }
        }

        @Test(.timeLimit(.minutes(12)))
        func `an encoder that is back within the window goes on, and one that is later begins anew`() throws {
            let folder = RecordingFolder()
            let gateway = try Gateway(configuration: "storage: {shared: {directory: \"\(folder.url.path)\"}}")
            try gateway.recordDemoStage(into: "shared", window: 60)
            for _ in 0..<2 {
                let run = try Encoder.ffmpeg(.redundant, to: gateway.quickstart.publishURL, seconds: 5)
                #expect(run.status(within: .seconds(60)) == 0, "\(run.output)")
            }
            expect("it is over\n\(gateway.log.suffix(2_000))", within: .seconds(120)) { folder.hasEnded(1) }
            let first = try #require(folder.playlists.first)
            #expect(try String(contentsOfFile: first, encoding: .utf8).contains("#EXT-X-DISCONTINUITY\n"))
            let run = try Encoder.ffmpeg(.redundant, to: gateway.quickstart.publishURL, seconds: 5)
            #expect(run.status(within: .seconds(60)) == 0, "\(run.output)")
            expect("so is the other\n\(gateway.log.suffix(2_000))", within: .seconds(120)) { folder.hasEnded(2) }
            try folder.expectHLS()
            let second = try #require(folder.playlists.last)
            #expect(try !String(contentsOfFile: second, encoding: .utf8).contains("#EXT-X-DISCONTINUITY\n"))
            gateway.stop()
        }

        /// Whole seconds of parts in the journals below a data directory.
        private static func journalled(in data: URL) -> Int {
            let spool = data.appending(path: "spool")
            let folders = (try? FileManager.default.contentsOfDirectory(atPath: spool.path)) ?? []
            let journals = folders.compactMap { try? String(contentsOf: spool.appending(path: "\($0)/journal"), encoding: .utf8) }
            return journals.reduce(0) { $0 + $1.split(separator: "\n").filter { $0.contains("\"nanoseconds\"") }.count }
        }

        /// Publishes by `encoder` until it ends, and waits for the end of the recording.
        private func recorded(
            into folder: RecordingFolder, by encoder: (Quickstart) throws -> ProgramRun
        ) throws -> Gateway {
            let gateway = try Gateway(configuration: folder.setting)
            let run = try encoder(gateway.quickstart)
            #expect(run.status(within: .seconds(300)) == 0, "\(run.output)")
            expect("it is over\n\(gateway.log.suffix(2_000))", within: .seconds(60)) { folder.hasEnded(1) }
            gateway.stop()
            return gateway
        }
    }
}

extension MediaFile {
    /// What mediainfo reads in a recording's first segment, behind its initialization.
    static func formats(ofFirstSegment playlist: String) throws -> String {
        let folder = URL(fileURLWithPath: playlist).deletingLastPathComponent()
        let file = Workspace.temporaryFile(suffix: ".mp4")
        let parts = try ["init-0.mp4", "1.mp4"].map { try Data(contentsOf: folder.appending(path: $0)) }
        try (parts[0] + parts[1]).write(to: file)
        let (video, audio) = ("Video;%Format% %Width%x%Height%, ", "Audio;%Format% %SamplingRate%")
        return try [video, audio].map { inform in
            try ProgramRun.output(of: ["mediainfo", "--Inform=\(inform)", file.path], within: .seconds(60))
                .trimmingCharacters(in: .newlines)
        }.joined()
    }

    /// The MD5 of every packet of a stream, as it lies in the file.
    static func packetDigests(_ path: String, of stream: String) throws -> [String] {
        let output = try ProgramRun.output(
            of: [
                "ffmpeg", "-hide_banner", "-nostdin", "-v", "error", "-i", path, "-map", "0:\(stream)", "-c", "copy", "-f",
                "framemd5", "-",
            ],
            within: .seconds(60))
        return output.split(separator: "\n").filter { $0.first?.isNumber == true }
            .compactMap { $0.split(separator: ",").last?.trimmingCharacters(in: .whitespaces) }
    }

    /// The times between the packets of a stream, in seconds.
    static func steps(_ path: String, stream: String) throws -> [Double] {
        let times = try steadyPacketTimes(path, stream: stream)
        return zip(times, times.dropFirst()).map { $1 - $0 }
    }
}
