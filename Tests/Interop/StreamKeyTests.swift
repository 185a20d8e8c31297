import Foundation
import Testing

extension Interop {
    /// One key, one publisher; and when it is free again.
    @Suite struct StreamKeys {
        @Test(.timeLimit(.minutes(10)))
        func `a second encoder is refused in words and the first never notices`() throws {
            let gateway = try Gateway()
            let capture = try Capture(gateway.sessionDescription)
            let first = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            expect("the first stream arrives", within: .seconds(60)) { capture.byteCount > 100_000 }
            let second = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL)
            let status = try #require(second.status(within: .seconds(60)))
            #expect(status != 0)
            #expect(second.output.contains("SD-"), "\(second.output)")
            let count = capture.byteCount
            expect("the first goes on", within: .seconds(60)) { capture.byteCount > count + 100_000 }
            #expect(first.isRunning, "\(first.output)")
            first.interrupt()
            capture.finish()
            // Again and again the same six seconds, and no picture of them is missing.
            let sent = try MediaFile.frameDigests(Clip.p30.file())
            let received = try MediaFile.frameDigests(capture.file.path)
            #expect(received.count > 60 && received.enumerated().allSatisfy { $1 == sent[$0 % sent.count] })
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)), arguments: [SIGKILL, SIGINT])
        func `an encoder that ends frees its key`(signal: Int32) throws {
            let gateway = try Gateway()
            let capture = try Capture(gateway.sessionDescription)
            let first = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            expect("the first stream arrives", within: .seconds(60)) { capture.byteCount > 50_000 }
            first.send(signal)
            _ = first.status(within: .seconds(60))
            let next = try Encoder.librtmp(.p30, to: gateway.quickstart.publishURL, seconds: 2)
            #expect(next.status(within: .seconds(60)) == 0, "\(next.output)")
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `an unknown key is refused in words`() throws {
            let gateway = try Gateway()
            let encoder = try Encoder.ffmpeg(.p30, to: "\(gateway.quickstart.rtmpURL)/nobody-knows-this-key")
            let status = try #require(encoder.status(within: .seconds(60)))
            #expect(status != 0)
            #expect(encoder.output.contains("SD-"), "\(encoder.output)")
            #expect(!gateway.log.contains("nobody-knows-this-key"))
            gateway.stop()
        }
    }
}
