import DataDirectory
import Foundation
import Testing

@Suite("Data directory")
struct DataDirectoryTests {
    let path = NSTemporaryDirectory() + "stagedoor-\(UUID().uuidString)"

    @Test func `is private and locked`() throws {
        let first = try DataDirectory(at: path)
        let mode = try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
        #expect(mode == 0o700)
        #expect(throws: DataDirectoryError.heldBy(processID: Int(getpid()))) { _ = try DataDirectory(at: path) }
        _ = consume first
        _ = try DataDirectory(at: path)
    }

    @Test func `replaces files whole and privately`() throws {
        let directory = try DataDirectory(at: path)
        try directory.makeFolder("sdp")
        try directory.write(Array("one".utf8), to: "sdp/a")
        try directory.write(Array("two".utf8), to: "sdp/a")
        #expect(try String(contentsOfFile: path + "/sdp/a", encoding: .utf8) == "two")
        let mode = try FileManager.default.attributesOfItem(atPath: path + "/sdp/a")[.posixPermissions] as? Int
        #expect(mode == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path + "/sdp") == ["a"])
    }

    @Test func `exchanges a file for its draft, whole and privately`() throws {
        let directory = try DataDirectory(at: path)
        try directory.makeFolder("sdp")
        let file = path + "/sdp/a"
        for text in ["the first", "2nd", "and the third, longer than both", ""] {
            try AtomicFile.exchange(Array(text.utf8), at: file)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path + "/sdp").sorted() == ["a", "a.new"])
        #expect(throws: DataDirectoryError.failed("open \(path)/none/a.new", errno: ENOENT)) {
            try AtomicFile.exchange([], at: path + "/none/a")
        }
    }

    @Test func `says what it could not do`() {
        #expect(throws: DataDirectoryError.failed("create /proc/none", errno: ENOENT)) { _ = try DataDirectory(at: "/proc/none") }
    }
}
