import Foundation
import TestSupport
import Testing

@testable import DataDirectory

@Suite("Data directory")
struct DataDirectoryTests {
    private let folder: TemporaryDirectory
    private var path: String { folder.path + "/data" }

    init() throws { folder = try TemporaryDirectory() }

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

    @Test func `tells a file that is not there from one that cannot be read`() throws {
        let directory = try DataDirectory(at: path)
        try directory.makeFolder("tls")
        let bytes = (0..<10_000).map { UInt8(truncatingIfNeeded: $0) }
        try directory.write(bytes, to: "tls/a")
        let (whole, none) = (try directory.read("tls/a"), try directory.read("tls/b"))
        #expect(whole == bytes && none == nil)
        #expect(throws: DataDirectoryError.failed("read \(path)/tls", errno: EISDIR)) { _ = try directory.read("tls") }
    }

    /// After a rename alone a loss of power may bring back the former file, or none.
    @Test func `a file is on disk before it is renamed, and its name there after that`() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        var steps: [String] = []
        try AtomicFile.write(Array("one".utf8), to: path + "/a") { descriptor in
            var status = stat()
            fstat(descriptor, &status)
            let isRenamed = FileManager.default.fileExists(atPath: path + "/a")
            steps.append("\(status.st_mode & S_IFMT == S_IFDIR ? "folder" : "file"), \(isRenamed ? "renamed" : "a draft")")
            return 0
        }
        #expect(steps == ["file, a draft", "folder, renamed"])
        #expect(throws: DataDirectoryError.failed("write \(path)", errno: EIO)) {
            var count = 0
            try AtomicFile.write(Array("two".utf8), to: path + "/a") { _ in
                count += 1
                errno = EIO
                return count == 1 ? 0 : -1
            }
        }
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

    @Test func `a directory that everybody may write into is not taken, nor is one inside`() throws {
        let files = FileManager.default
        // Whatever the umask of whoever runs this.
        try files.createDirectory(atPath: path, withIntermediateDirectories: true)
        try files.setAttributes([.posixPermissions: 0o1777], ofItemAtPath: path)
        #expect(throws: DataDirectoryError.open(path)) { _ = try DataDirectory(at: path) }
        try files.setAttributes([.posixPermissions: 0o775], ofItemAtPath: path)
        let directory = try DataDirectory(at: path)
        #expect(try files.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o700)
        try files.createDirectory(atPath: path + "/sdp", withIntermediateDirectories: true)
        try files.setAttributes([.posixPermissions: 0o777], ofItemAtPath: path + "/sdp")
        #expect(throws: DataDirectoryError.open(path + "/sdp")) { try directory.makeFolder("sdp") }
    }

    @Test(.enabled(if: geteuid() == 0, "only root makes what is another user's"))
    func `a directory that somebody else made is not taken`() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        try #require(chown(path, 65_534, 65_534) == 0)
        #expect(throws: DataDirectoryError.foreign(path, owner: 65_534)) { _ = try DataDirectory(at: path) }
    }

    @Test func `links are not followed: to a directory, to the lock, to a file's draft`() throws {
        let files = FileManager.default
        let target = path + "-target"
        try files.createDirectory(atPath: target, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        try files.createSymbolicLink(atPath: path, withDestinationPath: target)
        for name in [path, path + "/"] {
            #expect(throws: DataDirectoryError.link(path)) { _ = try DataDirectory(at: name) }
        }
        #expect(try files.attributesOfItem(atPath: target)[.posixPermissions] as? Int == 0o755)

        let victim = target + "/victim"
        try "as it was".write(toFile: victim, atomically: true, encoding: .utf8)
        try files.createSymbolicLink(atPath: target + "/lock", withDestinationPath: victim)
        #expect(throws: DataDirectoryError.failed("open \(target)/lock", errno: ELOOP)) { _ = try DataDirectory(at: target) }
        try files.createSymbolicLink(atPath: target + "/a.new", withDestinationPath: victim)
        #expect(throws: DataDirectoryError.failed("open \(target)/a.new", errno: ELOOP)) {
            try AtomicFile.write([], to: target + "/a")
        }
        #expect(try String(contentsOfFile: victim, encoding: .utf8) == "as it was")
    }

    @Test func `says what it could not do`() {
        #expect(throws: DataDirectoryError.failed("create /proc/none", errno: ENOENT)) { _ = try DataDirectory(at: "/proc/none") }
    }
}
