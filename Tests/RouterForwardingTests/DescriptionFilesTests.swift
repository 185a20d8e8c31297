import Admission
import Foundation
import Glibc
import TestSupport
import Testing

@testable import RouterForwarding

@Suite("Files of descriptions")
struct DescriptionFilesTests {
    @Test func `files are private, only participants have one, and the first stage has the short name`() throws {
        var template = Array("/tmp/sdp-XXXXXX".utf8CString)
        let directory = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let files = DescriptionFiles(directory: directory)
        // As an earlier version left it.
        try "old".write(toFile: "\(directory)/p-1.sdp", atomically: false, encoding: .utf8)
        for stage in ["s1", "s2"] { #expect(files.write(stage, for: ParticipantKey("p-1", onStage: stage))) }
        var status = stat()
        #expect(stat("\(directory)/s1/p-1.sdp", &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
        let short = try #require(files.path(ofFirst: "p-1"))
        #expect(short == "\(directory)/p-1.sdp")
        #expect(try String(contentsOfFile: short, encoding: .utf8) == "s1")
        for name in ["", "..", "a/b", String(repeating: "a", count: 65)] {
            #expect(!files.write("", for: ParticipantKey(name, onStage: "s1")))
            #expect(!files.write("", for: ParticipantKey("p", onStage: name)))
            #expect(files.path(ofFirst: name) == nil)
        }
    }

    @Test func `who moves to another stage takes the short name along, and who is gone leaves nothing`() throws {
        var template = Array("/tmp/sdp-XXXXXX".utf8CString)
        let directory = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let writer = try DescriptionWriter(directory: directory)
        func content(_ path: String) -> String? { try? String(contentsOfFile: "\(directory)/\(path)", encoding: .utf8) }
        func becomes(_ path: String, _ text: String?) -> Bool { waitUntil(within: .seconds(120)) { content(path) == text } }
        let (former, new) = (ParticipantKey("p-1", onStage: "s1"), ParticipantKey("p-1", onStage: "s2"))
        writer.write(former, "one")
        #expect(becomes("p-1.sdp", "one"))
        writer.forget(former)
        writer.write(new, "other")
        #expect(becomes("p-1.sdp", "other"))
        #expect(content("s1/p-1.sdp") == nil)
        // Somebody else's of the same name.
        writer.forget(former)
        writer.write(ParticipantKey("p-2", onStage: "s2"), "third")
        #expect(becomes("p-2.sdp", "third"))
        #expect(content("p-1.sdp") == "other")
        writer.forget(new)
        #expect(becomes("s2/p-1.sdp", nil))
        let names = ["p-2.sdp", "s1", "s2"]
        #expect(
            waitUntil(within: .seconds(120)) {
                (try? FileManager.default.contentsOfDirectory(atPath: directory).sorted()) == names
            })
    }

    @Test func `what the disk did not take is written once it does`() throws {
        var template = Array("/tmp/sdp-XXXXXX".utf8CString)
        let directory = try #require(mkdtemp(&template).map { String(cString: $0) })
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let writer = try DescriptionWriter(directory: directory, retryInterval: .milliseconds(50))
        func comes(_ path: String) -> Bool {
            waitUntil(within: .seconds(120)) { FileManager.default.fileExists(atPath: "\(directory)/\(path)") }
        }
        // Where the stage's folder has to be.
        try "".write(toFile: "\(directory)/s1", atomically: false, encoding: .utf8)
        writer.write(ParticipantKey("p-1", onStage: "s1"), "sdp")
        // The second of these comes when the turn of the first is over.
        for name in ["p-2", "p-3"] {
            writer.write(ParticipantKey(name, onStage: "s2"), "sdp")
            #expect(comes("s2/\(name).sdp"))
        }
        try FileManager.default.removeItem(atPath: "\(directory)/s1")
        #expect(comes("s1/p-1.sdp"))
    }
}
