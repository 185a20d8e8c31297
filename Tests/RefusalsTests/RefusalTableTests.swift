import Foundation
import Refusals
import Testing

@Suite("Table of refusals")
struct RefusalTableTests {
    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    @Test func `lists every row of its sources`() throws {
        let folder = Self.root.appendingPathComponent("Sources/Gateway/Refusals")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        let rows = try files.reduce(0) { count, file in
            try count + String(contentsOf: file, encoding: .utf8).components(separatedBy: "= RefusalCode(").count - 1
        }
        #expect(RefusalCode.all.count == rows)
    }

    @Test func `gives no number and no name twice`() {
        #expect(Set(RefusalCode.all.map(\.number)).count == RefusalCode.all.count)
        #expect(Set(RefusalCode.all.map(\.name)).count == RefusalCode.all.count)
    }

    @Test(arguments: RefusalCode.all)
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
