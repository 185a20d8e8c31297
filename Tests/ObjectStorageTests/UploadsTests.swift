import EventLoop
import Foundation
import GatewayMetrics
import HTTP
import HTTPServer
import Settings
import Signatures
import Sockets
import TestSupport
import Testing
import Wire

@testable import ObjectStorage

/// A store of ours: it believes what our verifier believes, answers what a test puts in, and keeps objects by path.
final class StoreUnderTest: Sendable {
    struct Content {
        var objects: [String: [UInt8]] = [:]
        /// Paths in the order in which they were stored.
        var order: [String] = []
        var answers: [HTTPResponse] = []
        var requests: [HTTPRequest] = []
        var doubts: [String] = []
    }

    let content = Lock(Content())
    private let address = Lock<SocketAddress?>(nil)
    private let isDone = Lock(false)
    private let thread: WorkerThread

    init() throws {
        let (content, address, isDone) = (content, address, isDone)
        thread = try WorkerThread.start(name: "s3") {
            guard let loop = try? EventLoop() else { return }
            let configuration = HTTPServerConfiguration(
                requestTimeout: .seconds(60), idleTimeout: .seconds(60), maximumBodyLength: 4 << 20, maximumConnections: 100,
                maximumConnectionsPerAddress: 100)
            let server = HTTPServer(loop: loop, configuration: configuration) { request, exchange in
                exchange.respond(content.withLock { $0.answer(request) })
            }
            let bound = try? server.listen(on: SocketAddress(.loopback, port: 0))
            address.withLock { $0 = bound }
            while !isDone.withLock({ $0 }) { _ = loop.run(until: { false }, within: .milliseconds(20)) }
        }
    }

    deinit {
        isDone.withLock { $0 = true }
        thread.join()
    }

    func settings() throws -> StorageSettings {
        waitUntil { address.withLock { $0 } != nil }
        var settings = StorageSettings()
        settings.endpoint = "http://\(try #require(address.withLock { $0 }))"
        (settings.accessKey, settings.secretKey) = ("AKIDEXAMPLE", Secret("secret"))
        return settings
    }

    func answers(_ answers: HTTPResponse...) { content.withLock { $0.answers += answers } }
}

extension StoreUnderTest.Content {
    fileprivate mutating func answer(_ request: HTTPRequest) -> HTTPResponse {
        requests.append(request)
        do {
            // S3 signs a path as it is; our verifier encodes it once more, as all others do: the same for what needs no escape.
            let verifier = SignatureV4Verifier(region: "us-east-1", services: ["s3"])
            _ = try verifier.verify(request, now: EventLoop.wallNow()) { _ in Secret("secret") }
        } catch {
            doubts.append("\(request.target): \(error)")
        }
        if request.headers["Content-Length"] == nil, request.method == .put { doubts.append("no length") }
        guard request.method == .put else { return HTTPResponse(.noContent) }
        if !answers.isEmpty { return answers.removeFirst() }
        objects[request.path] = request.body
        order.append(request.path)
        return HTTPResponse(.ok)
    }
}

@Suite("Uploads", .timeLimit(.minutes(10)))
struct UploadsTests {
    static func object(_ key: String, _ text: String) -> StoredObject {
        StoredObject(key: key, contentType: "text/plain", content: .bytes(Array(text.utf8)))
    }

    static func uploads(_ settings: StorageSettings) throws -> Uploads {
        try Uploads(["recordings": settings], metrics: UploadMetrics(MetricsRegistry()))
    }

    static func folder() throws -> String {
        let path = NSTemporaryDirectory() + "stagedoor-uploads-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    /// Waits for as many endings as uploads were handed over.
    final class Endings: Sendable {
        let list = Lock<[(key: String, result: UploadResult)]>([])

        func upload(_ object: StoredObject, bucket: String = "recordings") -> Upload {
            Upload(object, bucket: bucket) { [list] result in list.withLock { $0.append((object.key, result)) } }
        }

        func wait(for count: Int) -> [(key: String, result: UploadResult)] {
            let areAllTold = waitUntil(within: .seconds(120)) { list.withLock { $0.count } >= count }
            #expect(areAllTold)
            return list.withLock { $0 }
        }
    }

    @Test func `objects come into the bucket signed and whole`() throws {
        let (store, endings) = (try StoreUnderTest(), Endings())
        let uploads = try Self.uploads(store.settings())
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let segment = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
        try Data(segment).write(to: URL(fileURLWithPath: folder + "/1.mp4"))
        uploads.add(endings.upload(StoredObject(key: "s/1.mp4", contentType: "video/mp4", content: .file(folder + "/1.mp4"))))
        _ = endings.wait(for: 1)
        uploads.add(endings.upload(Self.object("s/playlist.m3u8", "1.mp4")))
        #expect(endings.wait(for: 2).allSatisfy { $0.result == .stored })
        let content = store.content.withLock { $0 }
        #expect(content.doubts.isEmpty, "\(content.doubts)")
        #expect(content.order == ["/recordings/s/1.mp4", "/recordings/s/playlist.m3u8"])
        #expect(content.objects["/recordings/s/1.mp4"] == segment)
        let request = try #require(content.requests.first)
        #expect(request.headers["X-Amz-Acl"] == "bucket-owner-full-control" && request.headers["Content-Type"] == "video/mp4")
        #expect(request.headers["Transfer-Encoding"] == nil && request.headers["Expect"] == nil)
    }

    @Test func `a store that has too much to do is asked again`() throws {
        let (store, endings) = (try StoreUnderTest(), Endings())
        let uploads = try Self.uploads(store.settings())
        store.answers(HTTPResponse(503), HTTPResponse(429))
        uploads.add(endings.upload(Self.object("a", "first")))
        #expect(endings.wait(for: 1).map(\.result) == [.stored])
        let content = store.content.withLock { $0 }
        #expect(content.order == ["/recordings/a"] && content.requests.count == 3)
    }

    @Test func `what nobody wants any more is not put again`() throws {
        let (store, endings, isWanted) = (try StoreUnderTest(), Endings(), Lock(true))
        let uploads = try Self.uploads(store.settings())
        store.answers(HTTPResponse(503))
        var upload = endings.upload(Self.object("a", "old"))
        upload.isWanted = {
            isWanted.withLock { isWanted in
                defer { isWanted = false }
                return isWanted
            }
        }
        uploads.add(upload)
        #expect(endings.wait(for: 1).map(\.result) == [.interrupted])
        #expect(store.content.withLock { $0.requests.count } == 1)
    }

    @Test func `a store that refuses is not asked again`() throws {
        let (store, endings) = (try StoreUnderTest(), Endings())
        let uploads = try Self.uploads(store.settings())
        store.answers(HTTPResponse(403, body: S3AnswerTests.error("AccessDenied", "Not yours")))
        uploads.add(endings.upload(Self.object("a", "first")))
        let ending = try #require(endings.wait(for: 1).first)
        #expect(ending.result == .failed("the store answered 403 AccessDenied: Not yours"))
        uploads.add(endings.upload(Self.object("b", "second")))
        #expect(endings.wait(for: 2).last?.result == .stored)
    }

    @Test func `a store that refuses is asked again for a recording of which it has something`() throws {
        let (store, endings) = (try StoreUnderTest(), Endings())
        let uploads = try Self.uploads(store.settings())
        store.answers(HTTPResponse(403, body: S3AnswerTests.error("AccessDenied", "Not yet")))
        var upload = endings.upload(Self.object("a", "rest"))
        upload.isBucketProven = true
        uploads.add(upload)
        #expect(endings.wait(for: 1).map(\.result) == [.stored])
    }

    @Test func `a wrong clock is set by the store's`() throws {
        let (store, endings) = (try StoreUnderTest(), Endings())
        let uploads = try Self.uploads(store.settings())
        let skewed = S3AnswerTests.error("RequestTimeTooSkewed", more: "<ServerTime>2031-01-02T03:04:05Z</ServerTime>")
        store.answers(HTTPResponse(403, body: skewed))
        uploads.add(endings.upload(Self.object("a", "first")))
        #expect(endings.wait(for: 1).first?.result == .stored)
        let stamps = store.content.withLock { $0.requests.compactMap { $0.headers["X-Amz-Date"] } }
        #expect(stamps.count == 2 && stamps.last?.hasPrefix("203101") == true, "\(stamps)")
    }

    @Test(arguments: S3AnswerTests.aclRefusals)
    func `a store that takes no ACL gets none`(_ status: Int, _ code: String, _ message: String) throws {
        let (store, endings) = (try StoreUnderTest(), Endings())
        let uploads = try Self.uploads(store.settings())
        store.answers(HTTPResponse(HTTPStatus(status), body: S3AnswerTests.error(code, message)))
        uploads.add(endings.upload(Self.object("a", "first")))
        _ = endings.wait(for: 1)
        uploads.add(endings.upload(Self.object("b", "second")))
        #expect(endings.wait(for: 2).allSatisfy { $0.result == .stored })
        let content = store.content.withLock { $0 }
        #expect(content.doubts.isEmpty && content.order == ["/recordings/a", "/recordings/b"], "\(content.doubts)")
        #expect(content.requests.map { $0.headers["X-Amz-Acl"] } == ["bucket-owner-full-control", nil, nil])
    }

    @Test func `a bucket is tried out before it is taken`() throws {
        let store = try StoreUnderTest()
        let uploads = try Self.uploads(store.settings())
        func tried(_ bucket: String) -> StorageFault? {
            let answer = Lock<StorageFault??>(nil)
            uploads.tryOut(bucket) { fault in answer.withLock { $0 = .some(fault) } }
            waitUntil(within: .seconds(120)) { answer.withLock { $0 } != nil }
            return answer.withLock { $0 } ?? .transient("no answer")
        }
        #expect(uploads.knows("recordings") && !uploads.knows("others"))
        #expect(tried("recordings") == nil)
        store.answers(HTTPResponse(403, body: S3AnswerTests.error("RequestTimeTooSkewed")))
        #expect(tried("recordings") == nil, "the answer's Date has set the clock")
        store.answers(HTTPResponse(501, body: S3AnswerTests.error("NotImplemented", "x-amz-acl")))
        #expect(tried("recordings") == nil, "it is tried without an ACL")
        store.answers(HTTPResponse(404, body: S3AnswerTests.error("NoSuchBucket", "gone")))
        #expect(tried("recordings") == .refused("the store answered 404 NoSuchBucket: gone"))
        #expect(tried("others") == .refused("the configuration file names no bucket others"))
        var closed = StorageSettings()
        (closed.endpoint, closed.accessKey, closed.secretKey) = ("http://127.0.0.1:1", "A", Secret("s"))
        uploads.apply(["recordings": closed])
        guard case .transient = tried("recordings") else {
            Issue.record("nobody listens there")
            return
        }
    }

    /// As a firewall has it: the API would answer 503 before the reason is known, and clients try that again.
    @Test func `who has a silent store tried out is told so before giving up`() throws {
        let silent = try TCPListener(loop: try EventLoop(), address: SocketAddress(.loopback, port: 0)) { _ in }
        var settings = StorageSettings()
        (settings.endpoint, settings.accessKey, settings.secretKey) = ("http://\(silent.localAddress)", "A", Secret("s"))
        let uploads = try Self.uploads(settings)
        let answer = Lock<StorageFault??>(nil)
        uploads.tryOut("recordings") { fault in answer.withLock { $0 = .some(fault) } }
        #expect(waitUntil(within: .seconds(25)) { answer.withLock { $0 } != nil })
        #expect((answer.withLock { $0 } ?? nil) == .transient("the store did not answer in time"))
        withExtendedLifetime(silent) {}
    }

    @Test func `what no bucket has when the process ends is interrupted`() throws {
        let (store, endings) = (try StoreUnderTest(), Endings())
        let uploads = try Self.uploads(store.settings())
        store.answers(HTTPResponse(503))
        uploads.add(endings.upload(Self.object("a", "first")))
        #expect(waitUntil { store.content.withLock { !$0.requests.isEmpty } })
        uploads.stop()
        uploads.add(endings.upload(Self.object("b", "second")))
        let results = endings.wait(for: 2).map(\.result)
        #expect(results.contains(.interrupted))
    }

    @Test func `a folder has objects at their keys' paths`() throws {
        let (folder, endings) = (try Self.folder(), Endings())
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data("segment".utf8).write(to: URL(fileURLWithPath: folder + "/spooled"))
        let uploads = try Self.uploads(StorageSettings(directory: folder + "/bucket"))
        // As after a crash: it is stored already, and is another name of the same bytes.
        for _ in 0..<2 {
            uploads.add(endings.upload(StoredObject(key: "s/p/1.mp4", contentType: "", content: .file(folder + "/spooled"))))
        }
        for text in ["old", "new"] {
            var playlist = Self.object("s/p/playlist.m3u8", text)
            playlist.isProvisional = true
            uploads.add(endings.upload(playlist))
        }
        #expect(endings.wait(for: 4).allSatisfy { $0.result == .stored })
        func text(_ path: String) throws -> String { try String(contentsOfFile: folder + path, encoding: .utf8) }
        #expect(try text("/bucket/s/p/1.mp4") == "segment" && text("/spooled") == "segment")
        #expect(try text("/bucket/s/p/playlist.m3u8") == "new")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder + "/bucket/s/p").sorted()
        #expect(names == ["1.mp4", "playlist.m3u8"], "no drafts are left")
        for (path, mode) in [("/s", 0o750), ("/s/p", 0o750), ("/s/p/1.mp4", 0o640), ("/s/p/playlist.m3u8", 0o640)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: folder + "/bucket" + path)
            #expect(attributes[.posixPermissions] as? Int == mode, "\(path)")
        }
    }

    @Test func `what is stored is on disk with its name, but for what is soon replaced`() throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data("segment".utf8).write(to: URL(fileURLWithPath: folder + "/spooled"))
        // What each forced folder has; nil for a file.
        var forced: [[String]?] = []
        let bucket = FolderBucket(folder + "/bucket") { descriptor in
            var status = stat()
            let isFolder = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            let names = try? FileManager.default.contentsOfDirectory(atPath: folder + "/bucket/s").sorted()
            forced.append(isFolder ? names : nil)
            return 0
        }
        var playlist = Self.object("s/playlist.m3u8", "1.mp4")
        playlist.isProvisional = true
        try bucket.put(playlist)
        #expect(forced.isEmpty)
        try bucket.put(StoredObject(key: "s/1.mp4", contentType: "", content: .file(folder + "/spooled")))
        #expect(forced.isEmpty, "the spool has forced the file, whose names are of one disk")
        playlist.isProvisional = false
        try bucket.put(playlist)
        #expect(forced == [nil, ["1.mp4", "playlist.m3u8"]])
    }

    @Test(.enabled(if: Privileges.mounts, "mounts a file system, which needs root"))
    func `a folder whose disk is full takes later what it does not take now`() throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try #require(mount("tmpfs", folder, "tmpfs", 0, "size=64k") == 0)
        defer { umount2(folder, CInt(MNT_DETACH)) }
        try Data(count: 60 << 10).write(to: URL(fileURLWithPath: folder + "/ballast"))
        let bucket = FolderBucket(folder + "/bucket")
        let object = Self.object("s/1.mp4", String(repeating: "a", count: 16 << 10))
        let fault = #expect(throws: StorageFault.self) { try bucket.put(object) }
        guard case .transient? = fault else {
            Issue.record("a full disk may be emptied")
            return
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/bucket/s").isEmpty)
        try FileManager.default.removeItem(atPath: folder + "/ballast")
        try bucket.put(object)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/bucket/s") == ["1.mp4"])
    }

    /// As one on a server that is away: whoever opens its pipe waits until somebody writes there.
    @Test func `a folder that hangs keeps no other bucket waiting`() throws {
        let (folder, endings) = (try Self.folder(), Endings())
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try #require(mkdir(folder + "/hung", 0o700) == 0 && mkfifo(folder + "/hung/pipe", 0o600) == 0)
        let buckets = ["hung", "recordings"].map { ($0, StorageSettings(directory: "\(folder)/\($0)")) }
        let uploads = try Uploads(Dictionary(uniqueKeysWithValues: buckets), metrics: UploadMetrics(MetricsRegistry()))
        uploads.read("pipe", from: "hung") { _ in }
        uploads.add(endings.upload(Self.object("late", "text"), bucket: "hung"))
        uploads.add(endings.upload(Self.object("early", "text")))
        #expect(endings.wait(for: 1).map(\.key) == ["early"])
        close(open(folder + "/hung/pipe", O_WRONLY))
        let stored = endings.wait(for: 2)
        #expect(stored.map(\.key) == ["early", "late"] && stored.allSatisfy { $0.result == .stored })
    }

    @Test func `a folder that hangs keeps nobody from ending`() throws {
        let (folder, isAnswered) = (try Self.folder(), Lock(false))
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try #require(mkfifo(folder + "/pipe", 0o600) == 0)
        let uploads = try Self.uploads(StorageSettings(directory: folder))
        uploads.read("pipe", from: "recordings") { _ in isAnswered.withLock { $0 = true } }
        uploads.stop()
        #expect(!isAnswered.withLock { $0 })
        close(open(folder + "/pipe", O_WRONLY))
        #expect(waitUntil { isAnswered.withLock { $0 } })
    }

    @Test func `a folder that a reload brings is a bucket at once`() throws {
        let (folder, endings) = (try Self.folder(), Endings())
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let uploads = try Uploads([:], metrics: UploadMetrics(MetricsRegistry()))
        var settings = StorageSettings(directory: folder)
        settings.bucket = "with.dots"
        uploads.apply(["shows": settings])
        uploads.add(endings.upload(Self.object("a", "text"), bucket: "with.dots"))
        #expect(endings.wait(for: 1).map(\.result) == [.stored])
        #expect(FileManager.default.fileExists(atPath: folder + "/a"))
    }

    @Test func `what waits for a store goes to the thread of the folder that takes its name`() throws {
        let (store, folder, threads) = (try StoreUnderTest(), try Self.folder(), Lock<[pthread_t]>([]))
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let uploads = try Self.uploads(store.settings())
        store.content.withLock { $0.answers = Array(repeating: HTTPResponse(503), count: 1_000) }
        func add(_ key: String) {
            uploads.add(
                Upload(Self.object(key, "text"), bucket: "recordings") { _ in threads.withLock { $0.append(pthread_self()) } })
        }
        add("early")
        #expect(waitUntil { store.content.withLock { !$0.requests.isEmpty } })
        uploads.apply(["recordings": StorageSettings(directory: folder)])
        add("late")
        #expect(waitUntil(within: .seconds(120)) { threads.withLock { $0.count } == 2 })
        #expect(Set(threads.withLock { $0 }).count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["early", "late"])
    }

    /// It was killed between the two names of the segment and the new one's place.
    @Test func `a draft that a crash left is not written through into the spool`() throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try Data("segment".utf8).write(to: URL(fileURLWithPath: folder + "/spooled"))
        try FileManager.default.createDirectory(atPath: folder + "/bucket", withIntermediateDirectories: true)
        try FileManager.default.linkItem(atPath: folder + "/spooled", toPath: folder + "/bucket/1.mp4.new")
        let object = StoredObject(key: "1.mp4", contentType: "", content: .file(folder + "/spooled"))
        try FolderBucket(folder + "/bucket").put(object)
        for path in ["/bucket/1.mp4", "/spooled"] {
            #expect(try String(contentsOfFile: folder + path, encoding: .utf8) == "segment")
        }
    }

    @Test(arguments: ["../out", "a//b", "/a", "a/./b", "", "a/\0"]) func `no key leads out of a folder`(_ key: String) throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(throws: StorageFault.self) { try FolderBucket(folder + "/b").put(Self.object(key, "x")) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
    }

    @Test func `credentials come from the file, then from the environment`() throws {
        var settings = StorageSettings()
        #expect(throws: StorageFault.self) { try BucketCredentials.find(settings, environment: [:]) }
        let given = ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "S", "AWS_SESSION_TOKEN": "T"]
        let found = try BucketCredentials.find(settings, environment: given)
        #expect(found == .init(accessKeyID: "A", secret: Secret("S"), sessionToken: Secret("T")))
        (settings.accessKey, settings.secretKey) = ("B", Secret("U"))
        #expect(try BucketCredentials.find(settings, environment: given) == .init(accessKeyID: "B", secret: Secret("U")))
    }
}
