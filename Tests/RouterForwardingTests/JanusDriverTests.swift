import EventLoop
import Foundation
import JSON
import Refusals
import StageHub
import TestSupport
import Testing
import Wire

@testable import RouterForwarding

/// Debian's Janus with its Streaming plugin, on a port of its own.
private final class Janus {
    static let port = FreePorts.tcp()
    static let url = "http://127.0.0.1:\(port)/janus"
    private let directory: URL
    private(set) var process = Process()

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "janus-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let library = try #require(Self.libraries.first { FileManager.default.fileExists(atPath: $0) })
        let folders = ["plugins", "transports", "events", "loggers"].map { "\($0)_folder = \"\(library)/\($0)\"" }
        try write("janus.jcfg", "general: { \(folders.joined(separator: "; ")); debug_level = 3 }")
        try write(
            "janus.transport.http.jcfg",
            "general: { http = true; port = \(Self.port); ip = \"127.0.0.1\"; https = false }\nadmin: { admin_http = false }")
        let ports = FreePorts.inARow(100)
        try write(
            "janus.plugin.streaming.jcfg", "general: { rtp_port_range = \"\(ports.lowerBound)-\(ports.upperBound)\" }")
        try start()
    }

    private static let libraries = ["/usr/lib/x86_64-linux-gnu/janus", "/usr/lib/aarch64-linux-gnu/janus"]

    private func write(_ name: String, _ text: String) throws {
        try text.write(to: directory.appending(path: name), atomically: true, encoding: .utf8)
    }

    func start() throws {
        process = Process()
        process.executableURL = URL(filePath: "/usr/bin/janus")
        process.arguments = ["-F", directory.path]
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
    }

    func kill() {
        guard process.isRunning else { return }
        Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    deinit {
        kill()
        try? FileManager.default.removeItem(at: directory)
    }
}

/// Makes a mountpoint whoever asks for whatever, the first one as 77.
private final class WillingJanus: RouterHTTP {
    /// What the plugin was asked.
    var asked: [JSONValue] = []
    /// Of its mountpoints.
    var ports: JSONValue = []
    /// What it lists.
    var mountpoints: JSONValue = []
    /// Where it answers.
    var address: IPAddress?
    /// Whether answers to creations wait for `answerCreation`.
    var holdsCreations = false
    private var lastID: Int64 = 76
    private var held: [() -> Void] = []

    /// The oldest creation that waits gets its answer.
    func answerCreation() { held.removeFirst()() }

    func send(_ request: RouterRequest, deadline: Duration, reply: @escaping (RouterResponse?) -> Void) {
        let body = (try? JSONValue(parsing: request.body))?["body"]
        if let body { asked.append(body) }
        let isCreation = body?["request"]?.string == "create"
        if isCreation { lastID += 1 }
        let answer: JSONValue = [
            "data": ["id": 1],
            "plugindata": ["data": ["stream": ["id": .integer(lastID), "ports": ports], "list": mountpoints]],
        ]
        let response = RouterResponse(status: 200, body: answer.serialized(), address: address)
        if isCreation, holdsCreations { return held.append { reply(response) } }
        reply(response)
    }
}

@Suite("Janus Streaming's answers")
struct JanusAnswerTests {
    private static let ownership = MountpointOwnership(key: Secret([UInt8](repeating: 7, count: 32)))

    private static func driver(
        _ http: any RouterHTTP, at mediaAddress: IPAddress? = .loopback,
        trust: RouterTrust = RouterTrust(networks: [IPNetwork("127.0.0.1")!]), isOnlyProcess: @escaping () -> Bool = { true }
    ) -> JanusDriver {
        JanusDriver(
            JanusDriver.Configuration(
                name: "j", url: "http://127.0.0.1:1/janus", mediaAddress: mediaAddress, trust: trust, ownership: ownership),
            http: http, isOnlyProcess: isOnlyProcess)
    }

    /// A process that has just taken a place would end all streams of the one before it.
    @Test func `what nobody here has is destroyed, but not while another process of the gateway lives`() {
        let http = WillingJanus()
        http.mountpoints = [["id": 5, "metadata": .string(Self.ownership.mark(stageID: "s", generation: 7))]]
        var isOnlyProcess = false
        let driver = Self.driver(http) { isOnlyProcess }
        driver.renewLease([]) { _ in }
        #expect(http.asked.map { $0["request"]?.string } == ["list"])
        isOnlyProcess = true
        driver.renewLease([]) { _ in }
        #expect(http.asked.map { $0["request"]?.string } == ["list", "list", "destroy"])
        #expect(http.asked.last?["id"]?.integer == 5)
    }

    /// In a take-over of or by such a version its process lives on, and destroys what it owns and does not have.
    @Test func `versions that spare no other process own no mountpoint of ours, and we own theirs`() {
        let mark = Self.ownership.mark(stageID: "s", generation: 7)
        let theirs = mark.replacing("stagedoor2:", with: "stagedoor:")
        #expect(!mark.hasPrefix("stagedoor:"))
        #expect(mark != theirs)
        #expect(Self.ownership.owns(theirs))
    }

    @Test func `a mountpoint that is refused is destroyed`() {
        let http = WillingJanus()
        var failures = 0
        Self.driver(http).announce(.of("p", stage: "s", generation: 7)) { if case .failure(.unacceptable) = $0 { failures += 1 } }
        #expect(failures == 1)
        #expect(http.asked.map { $0["request"]?.string } == ["create", "destroy"])
        #expect(http.asked.last?["id"]?.integer == 77)
    }

    /// A container that is made anew has its name and another address.
    @Test func `media goes to where the API answers`() {
        let http = WillingJanus()
        http.ports = [["type": "video", "port": 5004, "rtcp_port": 5005]]
        var trust = RouterTrust(networks: [IPNetwork("10.0.0.1")!])
        trust.includesAnswerer = true
        let driver = Self.driver(http, at: nil, trust: trust)
        var places: [SocketAddress?] = []
        for (generation, address) in [(7, "10.0.0.1"), (8, "10.0.0.2")] as [(UInt64, String)] {
            http.address = IPAddress(address)
            driver.announce(.of("p", stage: "s", generation: generation)) { places.append((try? $0.get())?.tracks.first?.rtp) }
        }
        #expect(places == [SocketAddress("10.0.0.1:5004"), SocketAddress("10.0.0.2:5004")])
    }

    @Test func `media goes to the host that the operator names, without a network that has it`() {
        let http = WillingJanus()
        (http.ports, http.address) = ([["type": "video", "port": 5004, "rtcp_port": 5005]], IPAddress("10.0.0.1"))
        var trust = RouterTrust(networks: [IPNetwork("10.0.0.1")!])
        trust.includesAnswerer = true
        var place: SocketAddress?
        Self.driver(http, at: IPAddress("10.0.0.9"), trust: trust).announce(.of("p", stage: "s", generation: 7)) {
            place = (try? $0.get())?.tracks.first?.rtp
        }
        #expect(place == SocketAddress("10.0.0.9:5004"))
    }

    @Test func `a mountpoint that comes after a later announce's is destroyed, not that one`() {
        let http = WillingJanus()
        http.ports = [["type": "video", "port": 5004, "rtcp_port": 5005]]
        let driver = Self.driver(http)
        var successes = 0
        for generation: UInt64 in [7, 8] {
            http.holdsCreations = generation == 7
            driver.announce(.of("p", stage: "s", generation: generation)) { if case .success = $0 { successes += 1 } }
        }
        http.answerCreation()
        #expect(successes == 2)
        #expect(http.asked.map { $0["request"]?.string } == ["create", "create", "destroy"])
        #expect(http.asked.last?["id"]?.integer == 77)
        driver.withdraw(.of("p", stage: "s", generation: 8), reason: .unpublished)
        #expect(http.asked.last?["id"]?.integer == 78)
    }
}

@Suite("Janus Streaming", .serialized, .timeLimit(.minutes(10)))
struct JanusDriverTests {
    private static func makeGateway(key: UInt8 = 7) throws -> Gateway {
        let trust = RouterTrust(networks: [IPNetwork("127.0.0.1")!])
        var configuration = JanusDriver.Configuration(
            name: "j", url: Janus.url, mediaAddress: .loopback, trust: trust,
            ownership: MountpointOwnership(key: Secret(Array(repeating: key, count: 32))))
        configuration.isProtected = true
        return try Gateway { http in [JanusDriver(configuration, http: http)] }
    }

    /// The mountpoints as Janus lists them.
    private static func mountpoints(_ gateway: Gateway) -> [JSONValue] {
        func post(_ body: JSONValue, _ path: String = "") -> JSONValue {
            gateway.answer(to: RouterRequest(method: "POST", url: Janus.url + path, body: body.serialized()))
        }
        let session = post(["janus": "create", "transaction": "t"])["data"]?["id"]?.integer ?? 0
        let attach: JSONValue = ["janus": "attach", "plugin": "janus.plugin.streaming", "transaction": "t"]
        let handle = post(attach, "/\(session)")["data"]?["id"]?.integer ?? 0
        let list = post(["janus": "message", "transaction": "t", "body": ["request": "list"]], "/\(session)/\(handle)")
        let mountpoints = list["plugindata"]?["data"]?["list"]?.array
        if mountpoints == nil { Issue.record("Janus does not list its mountpoints: \(list)") }
        return mountpoints ?? []
    }

    /// The Python with aiortc that scripts/install-deps makes.
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static let python = root.appending(path: ".deps/venv/bin/python")

    @Test func `a WebRTC viewer sees the pictures, and its wish for a keyframe comes back`() throws {
        let clip = try FFmpeg.output([
            "-f", "lavfi", "-i", "testsrc2=s=640x360:r=30:d=4", "-c:v", "libx264", "-preset", "ultrafast", "-profile:v",
            "baseline", "-pix_fmt", "yuv420p", "-g", "60", "-b:v", "500k", "-f", "h264", "-",
        ])
        let janus = try Janus()
        let gateway = try Self.makeGateway()
        gateway.clip = AnnexB.accessUnits(clip)
        gateway.publish("p", stage: "s")
        #expect(gateway.wait { gateway.announced == 1 })
        #expect(gateway.wait { Self.mountpoints(gateway).contains(where: Self.isFlowing) })
        let id = try #require(Self.mountpoints(gateway).first?["id"]?.integer)
        let before = gateway.keyframeRequests
        let viewer = Process()
        viewer.executableURL = Self.python
        viewer.arguments = [
            Self.root.appending(path: "Tests/Interop/Clients/janus_viewer.py").path, Janus.url, "\(id)", "6",
        ]
        let output = Pipe()
        viewer.standardOutput = output
        try viewer.run()
        defer { if viewer.isRunning { kill(viewer.processIdentifier, SIGKILL) } }
        try #require(gateway.wait(.seconds(240)) { !viewer.isRunning })
        let result = try JSONValue(parsing: [UInt8](output.readToEnd()))
        #expect((result["pictures"]?.integer ?? 0) > 60)
        #expect((result["sounds"]?.integer ?? 0) > 100)
        #expect(result["size"]?.integer == 6_400_360)
        #expect(gateway.keyframeRequests > before)
        withExtendedLifetime(janus) {}
    }

    /// Whether both tracks' last packet came to the mountpoint less than half a second ago.
    private static func isFlowing(_ mountpoint: JSONValue) -> Bool {
        let ages = mountpoint["media"]?.array?.map { $0["age_ms"]?.integer ?? .max } ?? []
        return ages.count == 2 && ages.allSatisfy { $0 < 500 }
    }

    @Test func `a participant is a mountpoint that media flows to, over restarts, until it leaves`() throws {
        let janus = try Janus()
        let gateway = try Self.makeGateway()
        gateway.publish("p", stage: "s")
        #expect(gateway.wait { gateway.announced == 1 })
        #expect(gateway.wait { Self.mountpoints(gateway).contains(where: Self.isFlowing) })
        #expect(Self.mountpoints(gateway).map { $0["description"]?.string } == ["p"])

        janus.kill()
        #expect(gateway.wait { gateway.stories.contains(.died(router: "j")) })
        try janus.start()
        #expect(gateway.wait { gateway.announced == 2 })
        #expect(gateway.wait { Self.mountpoints(gateway).contains(where: Self.isFlowing) })

        gateway.publications.removeFirst().end(.closed)
        #expect(gateway.wait { Self.mountpoints(gateway).isEmpty })
    }

    @Test func `what a killed gateway left behind is destroyed by its successor, and nothing else`() throws {
        let janus = try Janus()
        defer { withExtendedLifetime(janus) {} }
        let stranger = try Self.makeGateway(key: 8)
        stranger.publish("stranger", stage: "s")
        #expect(stranger.wait { stranger.announced == 1 })
        var killed: Gateway? = try Self.makeGateway()
        for participant in ["p", "q"] { killed?.publish(participant, stage: "s") }
        #expect(killed?.wait { killed?.announced == 2 } == true)
        killed = nil

        let successor = try Self.makeGateway()
        successor.publish("p", stage: "s")
        #expect(successor.wait { successor.announced == 1 })
        #expect(successor.wait { Self.mountpoints(successor).count == 2 })
        let left = Self.mountpoints(successor)
        #expect(Set(left.map { $0["description"]?.string }) == ["p", "stranger"])
        #expect(
            successor.wait {
                Self.mountpoints(successor).contains { $0["description"]?.string == "p" && Self.isFlowing($0) }
            })
    }
}
