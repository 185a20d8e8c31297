import Foundation
import Testing

extension Interop {
    /// Two encoders that are one participant, and not alike.
    @Suite struct RedundantMixed {
        /// What GStreamer reads to its end has to last.
        private static let sixty = Clip(
            name: "720p60 for a minute", video: "testsrc2=s=1280x720:r=60", seconds: 60, keyInterval: 60, bitrate: "800k")
        private static let thirty = Clip(
            name: "720p30 for a minute", video: "testsrc2=s=1280x720:r=30", seconds: 60, keyInterval: 30, bitrate: "600k")

        @Test(.timeLimit(.minutes(10)))
        func `GStreamer's 30 pictures a second go on for ffmpeg's 60, with a warning and their own parameter sets`() throws {
            let stage = try RedundantPair([])
            stage.encoders[1] = try Encoder.ffmpeg(Self.sixty, to: stage.url(1), seconds: Encoder.untilStopped)
            let capture = try stage.capture()
            for _ in 0..<3 {
                if stage.encoders[2]?.isRunning != true {
                    stage.encoders[2] = try Encoder.gstreamer(Self.thirty, to: stage.url(2))
                }
                try stage.change(by: .order)
                let begin = capture.byteCount
                expect("it goes on\n\(stage.logTail)", within: .seconds(60)) { capture.byteCount > begin + 150_000 }
            }
            try expect("a warning names both", within: .seconds(60)) {
                let told = try stage.gateway.signedAdmin("v1/sessions")
                return told.contains("1280x720 at 30 pictures a second") && told.contains("1280x720 at 60 pictures a second")
            }
            for encoder in stage.encoders.values { encoder.interrupt() }
            capture.finish()
            stage.gateway.stop()
            let decoder = try ProgramRun.output(
                of: [
                    "ffmpeg", "-hide_banner", "-nostdin", "-v", "error", "-i", capture.file.path, "-map", "0:v", "-f", "rawvideo",
                    "-y", "/dev/null",
                ], within: .seconds(120))
            #expect(decoder.isEmpty, "it decodes without a word: \(decoder)")
            #expect(try MediaFile.frameDigests(capture.file.path).count > 120)
        }
    }
}
