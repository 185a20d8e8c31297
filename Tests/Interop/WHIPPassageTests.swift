import Foundation
import Testing

extension Interop {
    /// What an encoder puts beside its pictures, behind WHIP.
    @Suite struct WHIPPassage {
        private static let words = "told beside the picture"

        @Test(.timeLimit(.minutes(10)))
        func `SEI reaches the router as it came`() throws {
            let gateway = try Gateway()
            let capture = try gateway.captureFirstWHIP()
            let encoder = try ProgramRun([
                try Workspace.program("stagedoor-bench"), "whip", try #require(gateway.quickstart.whipURL), "--token",
                try #require(gateway.quickstart.whipToken), "--seconds", "\(Encoder.untilStopped)", "--flv", try Self.clip(),
            ])
            expect("its words at the router", within: .seconds(120)) {
                (try? Data(contentsOf: capture.file))?.range(of: Data(Self.words.utf8)) != nil
            }
            encoder.interrupt()
            gateway.stop()
        }

        /// A clip with the words in an SEI message of its first picture (unregistered user data, H.264 D.1.7), which comes again
        /// and again as the clip does.
        private static func clip() throws -> String {
            let message = "h264_metadata=sei_user_data=086f3693-b7b3-4f2c-9653-21492feee5b8+\(words)"
            let recipe = ["ffmpeg", "-v", "error", "-nostdin", "-i", try Clip.p30.file(), "-c", "copy", "-bsf:v", message]
            return try ClipCache.file(recipe) { _ = try ProgramRun.output(of: recipe + [$0.path], within: .seconds(120)) }.path
        }
    }
}
