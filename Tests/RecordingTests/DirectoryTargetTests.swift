import EventLoop
import Foundation
import TestSupport
import Testing

@testable import Recording

@Suite("Recordings in a folder")
struct DirectoryTargetTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func put(_ object: RecordedObject) -> Result<Void, RecordingTargetError>? {
        let answer = Lock<Result<Void, RecordingTargetError>?>(nil)
        DirectoryTarget(path: folder.path + "/r").put(object) { result in answer.withLock { $0 = result } }
        return answer.withLock { $0 }
    }

    @Test
    func `stand where their keys say, in place of what was there`() throws {
        let source = folder.path + "/source"
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: source))
        let content = RecordedObject.Content.file(path: source, byteCount: 3)
        for content in [RecordedObject.Content.bytes([9]), content, content] {
            guard case .success? = put(RecordedObject(key: "a/b/1.mp4", content: content, contentType: "video/mp4")) else {
                return #expect(Bool(false))
            }
        }
        #expect(FileManager.default.contents(atPath: folder.path + "/r/a/b/1.mp4") == Data([1, 2, 3]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/r/a/b") == ["1.mp4"])
    }

    /// Its draft is another name of the file that it comes from: what is written into that is written into the spool.
    @Test
    func `take the place of what a crash left half stored`() throws {
        let source = folder.path + "/source"
        try Data([1, 2, 3]).write(to: URL(fileURLWithPath: source))
        try FileManager.default.createDirectory(atPath: folder.path + "/r/a", withIntermediateDirectories: true)
        try FileManager.default.linkItem(atPath: source, toPath: folder.path + "/r/a/1.mp4.new")
        let content = RecordedObject.Content.file(path: source, byteCount: 3)
        guard case .success? = put(RecordedObject(key: "a/1.mp4", content: content, contentType: "video/mp4")) else {
            return #expect(Bool(false))
        }
        #expect(FileManager.default.contents(atPath: source) == Data([1, 2, 3]))
        #expect(FileManager.default.contents(atPath: folder.path + "/r/a/1.mp4") == Data([1, 2, 3]))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/r/a") == ["1.mp4"])
    }

    @Test(arguments: ["../x", "a//b", "", "/etc/x", "a/../../x"])
    func `leave their folder by no key`(_ key: String) {
        guard case .failure? = put(RecordedObject(key: key, content: .bytes([1]), contentType: "")) else {
            return #expect(Bool(false))
        }
        #expect(!FileManager.default.fileExists(atPath: folder.path + "/x"))
    }
}
