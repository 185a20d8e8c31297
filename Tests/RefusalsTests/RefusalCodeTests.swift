import Foundation
import Refusals
import Testing

@Suite("Table of refusals")
struct RefusalCodeTests {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func `gives no name twice`() {
        #expect(Set(RefusalCode.allCases.map(\.name)).count == RefusalCode.allCases.count)
    }

    /// `EventErrorCode` of the API's model.
    @Test func `has every error code of IVS' events, and no other`() {
        let modelled: Set = [
            "B_FRAME_PRESENT", "BITRATE_EXCEEDED", "INSUFFICIENT_CAPABILITIES", "INTERNAL_SERVER_EXCEPTION",
            "INVALID_AUDIO_CODEC", "INVALID_INPUT", "INVALID_PROTOCOL", "INVALID_STREAM_KEY", "INVALID_VIDEO_CODEC",
            "PUBLISHER_NOT_FOUND", "QUOTA_EXCEEDED", "RESOLUTION_EXCEEDED", "REUSE_OF_STREAM_KEY", "STREAM_DURATION_EXCEEDED",
        ]
        #expect(Set(RefusalCode.allCases.compactMap(\.eventErrorCode)) == modelled)
    }

    @Test(arguments: RefusalCode.allCases)
    func `speaks in short sentences`(_ code: RefusalCode) {
        #expect((1001...1999).contains(code.number))
        #expect(code.sentence.hasSuffix("."))
        #expect(code.sentence.utf8.count < 250)
        #expect((400...599).contains(code.httpStatus))
    }

    @Test func `is what docs say`() throws {
        let file = Self.root.appendingPathComponent("docs/errors.md")
        if ProcessInfo.processInfo.environment["STAGEDOOR_WRITE_DOCS"] != nil {
            try RefusalCatalogue.markdown.write(to: file, atomically: true, encoding: .utf8)
        }
        let page = try String(contentsOf: file, encoding: .utf8)
        #expect(page == RefusalCatalogue.markdown, "run: stagedoor errors > docs/errors.md")
    }
}
