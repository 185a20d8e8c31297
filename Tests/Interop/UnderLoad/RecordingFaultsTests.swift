import Foundation
import TestSupport
import Testing

extension UnderLoad {
    /// What `make test` sees of recordings' faults, longer and with more streams.
    @Suite struct RecordingFaults {
        @Test(.timeLimit(.minutes(40)))
        func `nothing is lost where the store is away for ten minutes`() throws {
            let clip = Clip(name: "12 minutes", video: "testsrc2=s=320x180:r=30", seconds: 720, bitrate: "150k")
            try Interop.RecordedStore.outlive(absence: .seconds(600), of: clip)
        }

        @Test(.timeLimit(.minutes(20)))
        func `a slow disk beside 50 streams is felt by none`() throws {
            try Interop.RecordedDisk.outliveSlowness(streams: 50, milliseconds: 300)
        }

        /// STAGEDOOR_DRIFT_MINUTES of an encoder whose sound's clock runs 100 ppm fast, with a gap in the middle.
        @Test(.timeLimit(.minutes(60)))
        func `flash and beep stay within 40 ms while the encoder's clocks drift apart, and after a gap`() throws {
            let minutes = ProcessInfo.processInfo.environment["STAGEDOOR_DRIFT_MINUTES"].flatMap { Int($0) } ?? 30
            let (disk, folder) = (try SlowDisk(milliseconds: 30_000), RecordingFolder())
            let gateway = try Gateway(configuration: folder.setting, data: disk.data, launcher: disk.launcher)
            let encoder = try Encoder.drifting(byMillionths: 100, to: gateway.quickstart.publishURL, seconds: 60 * minutes)
            letPass(.seconds(30 * minutes))
            disk.makeGap(at: gateway)
            #expect(encoder.status(within: .seconds(30 * minutes + 60)) == 0, "\(encoder.output)")
            expect("it is over\n\(gateway.log.suffix(2_000))", within: .seconds(60)) { folder.hasEnded(1) }
            gateway.stop()
            try folder.expectHLS()
            try Self.expectTogether(try #require(folder.playlists.first), seconds: 60 * minutes)
        }

        private static func expectTogether(_ path: String, seconds: Int) throws {
            let rules = PlaylistRules(try String(contentsOfFile: path, encoding: .utf8))
            #expect(rules.breaks.count >= 1)
            let (flashes, beeps) = try MediaFile.flashesAndBeeps(path)
            #expect(flashes.count >= seconds - 60)
            // A flash that a gap has cut has a beginning of its own.
            let judged = flashes.filter { flash in rules.breaks.allSatisfy { abs($0 - flash) > 1.5 } }.dropLast()
            let skews = try judged.map { flash in try #require(beeps.map { abs($0 - flash) }.min()) }
            print("\(judged.count) flashes, the greatest skew \(skews.max() ?? 0) s, after the last gap \(skews.last ?? 0) s")
            #expect(skews.allSatisfy { $0 < 0.04 }, "\(zip(judged, skews).filter { $1 >= 0.04 })")
        }
    }
}

extension Encoder {
    /// ffmpeg with a flash and a beep at every full second, and a sound card that is fast: it brings more than 48,000 samples a
    /// second, and their times say so.
    static func drifting(byMillionths drift: Int, to url: String, seconds: Int) throws -> ProgramRun {
        let rate = 1 + Double(drift) / 1e6
        let picture = "color=black:s=320x180:r=30,drawbox=t=fill:c=white:enable='lt(mod(t\\,1)\\,0.1)'"
        let sound = "aevalsrc='if(lt(mod(t/\(rate)\\,1)\\,0.1)\\,0.5*sin(2*PI*1000*t)\\,0)':s=48000"
        return try ProgramRun([
            "ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-v", "warning", "-re", "-f", "lavfi", "-i", picture, "-re", "-f",
            "lavfi", "-i", sound, "-af", "asetpts=PTS/\(rate)", "-c:v", "libx264", "-preset", "ultrafast", "-pix_fmt", "yuv420p",
            "-profile:v", "baseline", "-g", "60", "-c:a", "aac", "-b:a", "96k", "-ac", "2", "-t", "\(seconds)", "-f", "flv", url,
        ])
    }
}
