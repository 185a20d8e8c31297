import Foundation
import TestSupport
import Testing

extension Interop {
    /// What the documents give an ffmpeg beside the gateway for.
    @Suite struct OtherProtocols {
        /// docs/encoders.md, *SRT*.
        @Test(.timeLimit(.minutes(10)))
        func `SRT comes in by an ffmpeg that passes it on`() throws {
            let port = try #require(FreePorts.inARow(1).first)
            let file = try delivered(.p30) { quickstart in
                let listener = try ProgramRun(
                    Self.ffmpeg + ["-i", "srt://127.0.0.1:\(port)?mode=listener\(Self.waits)", "-map", "0:v:0", "-map", "0:a:0"]
                        + ["-c", "copy", "-f", "flv", "\(try #require(quickstart.rtmpsURL))/\(quickstart.streamKey)"])
                expect("\(listener.output)", within: .seconds(60)) { !FreePorts.areFree(port...port) }
                let sender = try ProgramRun(
                    Self.ffmpeg + ["-re", "-i", try Clip.p30.file(), "-c", "copy"]
                        + ["-f", "mpegts", "srt://127.0.0.1:\(port)?mode=caller\(Self.waits)"])
                #expect(sender.status(within: .seconds(60)) == 0, "\(sender.output)")
                return listener
            }
            let (sent, received) = (try MediaFile.frameDigests(Clip.p30.file()), try MediaFile.frameDigests(file))
            #expect(received.count > 3 * 30)
            // SRT's end may cut the last picture that the listener gets.
            let whole = received.dropLast()
            #expect(whole.elementsEqual(sent.prefix(whole.count)))
        }

        /// docs/stage-router.md, section 11.
        @Test(.timeLimit(.minutes(10)))
        func `a static receiver's ffmpeg sends on to another platform`() throws {
            let (gateway, platform) = (try Gateway(), try Gateway())
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            try expect("\(gateway.log.suffix(2_000))", within: .seconds(60)) {
                try String(contentsOf: gateway.sessionDescription, encoding: .utf8).contains("sprop-parameter-sets")
            }
            let onward = try ProgramRun(
                Self.ffmpeg + ["-protocol_whitelist", "file,udp,rtp", "-i", gateway.sessionDescription.path]
                    + ["-c:v", "copy", "-c:a", "aac", "-b:a", "128k", "-f", "flv", platform.quickstart.publishURL])
            try expect("\(onward.output)\n\(platform.log.suffix(2_000))", within: .seconds(60)) {
                try platform.signed("v1/sessions").contains("1280x720")
            }
            onward.interrupt()
            encoder.interrupt()
            gateway.stop()
            platform.stop()
        }

        /// SRT waits for what is late, as on a busy machine, in place of leaving it out.
        private static let waits = "&tlpktdrop=0"
        private static let ffmpeg = ["ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-v", "warning"]
    }
}
