import Foundation
import Testing

extension Interop {
    /// ffmpeg 9, which speaks WHIP.
    @Suite(.enabled(if: Forky.isAsked, Forky.reason)) struct NewerFFmpeg {
        static let seconds = 12

        /// By default it offers `setup:passive`: then we begin the DTLS handshake.
        @Test(.timeLimit(.minutes(10)), arguments: [[], ["-whip_flags", "dtls_active"]])
        func `publishes by WHIP in both DTLS roles`(options: [String]) throws {
            let gateway = try Gateway()
            let capture = try gateway.captureFirstWHIP()
            let encoder = try Self.publish(to: gateway.quickstart, options: options)
            #expect(encoder.status(within: .seconds(60)) == 0, "\(encoder.output)\n\(gateway.log.suffix(4_000))")
            capture.finish()
            let frames = try MediaFile.frameDigests(capture.file.path).count
            print("ffmpeg 9 by WHIP \(options): \(frames) frames in \(Self.seconds) s")
            #expect(frames >= (Self.seconds - 3) * 30, "\(encoder.output)\n\(gateway.log.suffix(4_000))")
            let audio = try MediaFile.steadyPacketTimes(capture.file.path, stream: "a:0")
            #expect(audio.count >= (Self.seconds - 3) * 50)
            gateway.stop()
        }

        /// In its default role a DTLS record after the handshake made it crawl; and it reads a NACK only when it stands alone.
        @Test(.timeLimit(.minutes(10)), arguments: [100, 150])
        func `publishes by WHIP over a long way, and recovers what that loses`(milliseconds: Int) throws {
            let path = try DistantPath(delay: .milliseconds(milliseconds))
            let gateway = try Gateway(configuration: path.advertisement)
            try path.lead(udpTo: gateway.mediaPort)
            let capture = try gateway.captureFirstWHIP()
            let encoder = try Self.publish(to: gateway.quickstart, options: [])
            expect("it is connected\n\(encoder.output)", within: .seconds(60)) { gateway.log.contains("whip_connected") }
            try path.tell("loss 1 up")
            #expect(encoder.status(within: .seconds(60)) == 0, "\(encoder.output)\n\(gateway.log.suffix(4_000))")
            capture.finish()
            let (dropped, told) = (try path.counts.up.dropped, try #require(try gateway.endedSessions().first).media.video)
            let frames = try MediaFile.frameDigests(capture.file.path).count
            print("ffmpeg 9 by WHIP, \(2 * milliseconds) ms: \(frames) frames in \(Self.seconds) s; \(dropped) dropped, \(told)")
            #expect(frames >= (Self.seconds - 4) * 30, "\(encoder.output)\n\(gateway.log.suffix(4_000))")
            #expect(told.recovered > 0 && told.lost * 4 <= told.recovered, "\(told)")
            gateway.stop()
        }

        /// A DTLS record behind its handshake, as close_notify is one, made it wait for ever.
        @Test(.timeLimit(.minutes(10)), arguments: [[], ["-whip_flags", "dtls_active"]])
        func `ends where its publish by WHIP was ended before`(options: [String]) throws {
            let gateway = try Gateway()
            let encoder = try Self.publish(to: gateway.quickstart, options: options, size: "1920x1080")
            #expect(encoder.status(within: .seconds(60)) == 0, "\(encoder.output)\n\(gateway.log.suffix(4_000))")
            #expect(gateway.log.contains("SD-1043"))
            gateway.stop()
        }

        static func publish(to quickstart: Quickstart, options: [String], size: String = "640x360") throws -> ProgramRun {
            let line = [
                "ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-v", "info", "-re", "-f", "lavfi", "-i",
                "testsrc2=s=\(size):r=30",
                "-f", "lavfi", "-i", "sine=f=440:r=48000", "-t", "\(seconds)", "-c:v", "libx264", "-preset", "veryfast", "-tune",
                "zerolatency", "-profile:v", "baseline", "-bf", "0", "-g", "60", "-b:v", "800k", "-pix_fmt", "yuv420p", "-c:a",
                "libopus", "-ac", "2", "-b:a", "96k", "-f", "whip", "-authorization", try #require(quickstart.whipToken),
            ]
            return try ProgramRun(Forky.command(line + options + [try #require(quickstart.whipURL)]))
        }
    }
}
