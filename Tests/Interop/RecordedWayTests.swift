import Foundation
import Testing

extension Interop {
    /// What a bad way to the gateway leaves of a recording.
    @Suite struct RecordedWay {
        @Test(.timeLimit(.minutes(10)))
        func `flash and beep stay within 40 ms where the way loses packets, and is cut for a while`() throws {
            let (path, folder) = (try DistantPath(delay: .milliseconds(20), seed: 3), RecordingFolder())
            let gateway = try Gateway(configuration: "\(folder.setting)\n\(path.advertisement)")
            try path.lead(udpTo: gateway.mediaPort)
            let (url, token) = try WHIP.endpoint(gateway)
            let encoder = try WHIP.client("whip_obs.py", ["\(Encoder.untilStopped)", url, token, try Self.clip()])
            expect("it is recorded", within: .seconds(60)) { !folder.playlists.isEmpty || !encoder.isRunning }
            try path.tell("loss 3 up")
            try expect("the way loses", within: .seconds(60)) { try path.counts.up.dropped > 25 }
            try path.tell("cut")
            try expect("the way is cut", within: .seconds(60)) { try path.counts.up.cut > 300 }
            try path.tell("heal")
            try path.tell("loss 0")
            let before = folder.segments
            expect("it goes on\n\(gateway.log.suffix(2_000))", within: .seconds(60)) { folder.segments > before + 1 }
            encoder.send(SIGUSR2)
            #expect(encoder.status(within: .seconds(120)) == 0, "\(encoder.output) \(gateway.log.suffix(2_000))")
            expect("it is over\n\(gateway.log.suffix(2_000))", within: .seconds(60)) { folder.hasEnded(1) }
            gateway.stop()
            try folder.expectHLS()
            try Self.expectTogether(try #require(folder.playlists.first))
        }

        /// What is lost of sound is not asked for again: a beep that lacks its first packet begins with the next.
        private static func expectTogether(_ playlist: String) throws {
            let (flashes, beeps) = try MediaFile.flashesAndBeeps(playlist)
            // At first an encoder that a busy machine holds up writes its reports late, which tell where its sound is; the way is bad
            // after that. At the very end black and silence end as well, with the streams.
            let judged = flashes.filter { $0 > beginning }.dropLast()
            let nearest = judged.compactMap { flash in beeps.map { $0 - flash }.min { abs($0) < abs($1) } }
            let pairs = nearest.filter { abs($0) < 0.5 }
            print("\(flashes.count) flashes, \(beeps.count) beeps, the greatest skew \(pairs.map(abs).max() ?? 0) s")
            #expect(flashes.count >= 15 && beeps.count >= 12 && pairs.count >= 8, "\(flashes)\n\(beeps)")
            #expect(pairs.allSatisfy { abs($0) < 0.04 }, "\(flashes)\n\(beeps)")
        }

        /// In seconds: no more than half of what is recorded.
        private static let beginning = 9.0

        /// Flashes and beeps with Opus, as OBS sends it.
        private static func clip() throws -> String {
            var clip = Clip.flashAndBeep(sampleRate: 48_000, channels: 2)
            clip.seconds = 120
            let file = Workspace.temporaryFile(suffix: ".mkv")
            _ = try ProgramRun.output(
                of: [
                    "ffmpeg", "-hide_banner", "-nostdin", "-v", "error", "-i", try clip.file(), "-c:v", "copy", "-c:a", "libopus",
                    "-b:a", "96k", file.path,
                ], within: .seconds(60))
            return file.path
        }
    }
}
