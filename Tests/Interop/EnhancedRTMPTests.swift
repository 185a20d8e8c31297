import Foundation
import Testing

extension Interop.MediaContract {
    /// Codecs of Enhanced RTMP, which this machine's ffmpeg cannot send and the one inside PyAV can.
    @Suite struct EnhancedRTMP {
        @Test(.timeLimit(.minutes(10)), arguments: [("libx265", "HEVC (H.265)"), ("libsvtav1", "AV1")])
        func `other codecs than H264 are refused by name`(_ encoder: String, _ name: String) throws {
            let gateway = try Gateway()
            let client = Workspace.package.appending(path: "Tests/Interop/Clients/enhanced_rtmp.py").path
            let python = Workspace.package.appending(path: ".deps/venv/bin/python").path
            var output = ""
            // What it still sends on a busy machine may cost it the words: it gets them at its next attempt.
            for _ in 0..<3 where !output.contains("SD-1040") {
                let publisher = try ProgramRun([python, client, encoder, gateway.quickstart.publishURL])
                #expect(publisher.status(within: .seconds(160)) == 1, "\(publisher.output)")
                output = publisher.output
            }
            for words in ["SD-1040", "\(name) video (allowed: H.264)", "-c:v libx264"] {
                #expect(output.contains(words), "\(words) in \(output)")
            }
            let events = try gateway.events { !$0.isEmpty }
            #expect(Set(events.map(\.name)) == ["Participant Publish Error"])
            #expect(Set(events.map(\.error)) == ["INVALID_VIDEO_CODEC"])
            gateway.stop()
        }
    }
}
