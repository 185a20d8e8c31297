import EventLoop
import Foundation
import GatewayMetrics
import OpenSSL
import Settings
import TestSupport
import Testing
import Wire

@testable import ObjectStorage

/// moto's S3 behind a front that fails as told (Tests/Interop/Clients/s3_store.py).
final class MotoStore {
    private let process = Process()
    private let input = Pipe()
    let settings: StorageSettings

    init(faults: [String] = []) throws {
        let (output, process) = (Pipe(), process)
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", Self.script, "serve", "recordings"] + faults
        process.environment = Self.environment
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
        // One line, once it serves.
        let line = output.fileHandleForReading.availableData
        let ports = try JSONDecoder().decode([String: Int].self, from: line)
        var settings = StorageSettings()
        settings.endpoint = "http://127.0.0.1:\(try #require(ports["port"]))"
        (settings.accessKey, settings.secretKey) = ("AKIDEXAMPLE", Secret("secret"))
        self.settings = settings
    }

    deinit {
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    struct Object: Decodable {
        var size: Int
        var sha256: String
        var type: String
        var modified: Double
    }

    /// What boto3 finds in the bucket.
    func objects() throws -> [String: Object] {
        let reader = Process()
        let output = Pipe()
        reader.executableURL = URL(filePath: "/usr/bin/env")
        reader.arguments = ["python3", Self.script, "read", settings.endpoint, "recordings"]
        reader.environment = Self.environment
        reader.standardOutput = output
        try reader.run()
        let data = output.readToEnd()
        reader.waitUntilExit()
        return try JSONDecoder().decode([String: Object].self, from: data)
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
    private static let script = root.appending(path: "Tests/Interop/Clients/s3_store.py").path
    private static var environment: [String: String] {
        var environment = ProcessInfo.processInfo.environment
        environment["PATH"] = root.appending(path: ".deps/venv/bin").path + ":" + (environment["PATH"] ?? "")
        return environment
    }
}

@Suite("Uploads to moto's S3", .timeLimit(.minutes(10)))
struct MotoTests {
    @Test func `a recording's objects come through every fault, whole and in order`() throws {
        let store = try MotoStore(faults: ["503", "reset", "slow", "lost", "skew", "429", "pass", "reset"])
        let (folder, endings) = (try TemporaryDirectory(), UploadsTests.Endings())
        let uploads = try UploadsTests.uploads(store.settings)
        var expected: [String: [UInt8]] = [:]
        for number in 1...8 {
            let bytes = (0..<(number * 120_001)).map { UInt8(truncatingIfNeeded: $0 &* number) }
            let path = "\(folder.path)/\(number).mp4"
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            expected["s/high/\(number).mp4"] = bytes
            uploads.add(
                endings.upload(StoredObject(key: "s/high/\(number).mp4", contentType: "video/mp4", content: .file(path))))
            _ = endings.wait(for: 2 * number - 1)
            let playlist = Array((1...number).map { "\($0).mp4\n" }.joined().utf8)
            expected["s/high/playlist.m3u8"] = playlist
            uploads.add(
                endings.upload(
                    StoredObject(
                        key: "s/high/playlist.m3u8", contentType: "application/vnd.apple.mpegurl", content: .bytes(playlist))))
            _ = endings.wait(for: 2 * number)
        }
        let results = endings.wait(for: 16)
        #expect(results.allSatisfy { $0.result == .stored }, "\(results)")
        #expect(results.map(\.key).filter { $0.hasSuffix("mp4") } == (1...8).map { "s/high/\($0).mp4" })
        let objects = try store.objects()
        #expect(Set(objects.keys) == Set(expected.keys))
        for (key, bytes) in expected {
            #expect(objects[key]?.size == bytes.count)
            #expect(objects[key]?.sha256 == String(hexadecimal: Digest.sha256(bytes)), "\(key)")
        }
        #expect(objects["s/high/1.mp4"]?.type == "video/mp4")
        uploads.stop()
    }

    @Test func `a bucket that is not there, or refuses, is told in the store's words`() throws {
        let store = try MotoStore(faults: ["403"])
        let (endings, uploads) = (UploadsTests.Endings(), try UploadsTests.uploads(store.settings))
        uploads.apply(["recordings": store.settings, "missing": store.settings])
        uploads.add(endings.upload(UploadsTests.object("a", "x")))
        #expect(endings.wait(for: 1).first?.result == .failed("the store answered 403 AccessDenied: Access Denied"))
        uploads.add(endings.upload(UploadsTests.object("a", "x"), bucket: "missing"))
        guard case .failed(let words) = endings.wait(for: 2).last?.result else {
            Issue.record("there is no such bucket")
            return
        }
        #expect(words.contains("404 NoSuchBucket"), "\(words)")
        uploads.stop()
    }
}
