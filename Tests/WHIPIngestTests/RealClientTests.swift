import Admission
import EventLoop
import Foundation
import Refusals
import Settings
import StageHub
import TestSupport
import Testing
import Wire

@testable import WHIPIngest
@testable import WebRTCTransport

/// Programs of other people against our media port: `scripts/install-deps --test` installs them.
@Suite("Real WHIP clients", .serialized, .timeLimit(.minutes(10)))
struct RealClientTests {
    static let python = repositoryRoot + ".deps/venv/bin/python"

    @Test(arguments: ["av", "va", "v"])
    func `aiortc publishes, is forwarded with keyframes, and stops with 200`(_ order: String) throws {
        let gateway = try TestGateway(workers: 2)
        defer { gateway.stop() }
        let audio = order.contains("a") ? 100 : -1
        let client = try Self.run("aiortc_whip.py", ["400", gateway.url, "aiortc"], environment: ["ORDER": order]) {
            gateway.output["aiortc"].map { $0.video.count > 50 && $0.keyframes >= 1 && $0.audio.count > audio } == true
        }
        #expect(client.contains("POST 201") && client.contains("state connected"), "\(client)")
        let stream = try #require(gateway.output["aiortc"])
        #expect(stream.video.count > 50 && stream.keyframes >= 1)
        #expect(stream.audio.count > audio)
        #expect(stream.video.count == Set(stream.video).count)
        #expect(client.contains("DELETE 200") && stream.ended == .closed, "\(client)")
        #expect(gateway.leases.liveCount == 0)
    }

    @Test
    func `aiortc without H.264 is told what to enable`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let client = try Self.run("aiortc_whip.py", ["1", gateway.url, "vp8"], environment: ["CODEC": "VP8"])
        #expect(client.contains("POST 422") && client.contains("enable H.264"), "\(client)")
    }

    @Test(arguments: [false, true])
    func `the conformance script finds nothing`(_ isStrict: Bool) throws {
        let gateway = try TestGateway { $0.whip.strictETags = isStrict }
        defer { gateway.stop() }
        let report = try Self.run("whip_conformance.py", [gateway.url, "alice"] + (isStrict ? ["--strict-etags"] : []))
        #expect(report.contains("failed: 0") && !report.contains("FAIL"), "\(report)")
    }

    @Test(arguments: ["pattern", "camera", "back"])
    func `Chromium publishes from our own page`(_ source: String) throws {
        let gateway = try TestGateway(workers: 2)
        defer { gateway.stop() }
        let page = gateway.url.replacing("/whip", with: "/publish")
        let client = try Self.run("browser_whip.py", ["400", page, "chromium", source]) {
            gateway.output["chromium"].map { $0.video.count > 100 && $0.keyframes >= 1 && $0.audio.count > 100 } == true
        }
        #expect(client.contains("connection connected") && client.contains("stopped 200"), "\(client)")
        let stream = try #require(gateway.output["chromium"])
        #expect(stream.video.count > 100 && stream.keyframes >= 1 && stream.audio.count > 100, "\(client)")
        #expect(stream.ended == .closed)
    }

    @Test
    func `a browser without H.264 is told so by our own page`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let page = gateway.url.replacing("/whip", with: "/publish")
        let told = try Self.run("publish_page.py", [page, "chromium", "error"], environment: ["WITHOUT": "H264"])
        #expect(told.contains("422 SD-1101: The offer has no H.264 video track: enable H.264"), "\(told)")
    }

    @Test(arguments: [
        ("screen", "screen", "shares no screen"), ("camera", "permission", "permit it for this page"),
        ("pattern", "network", "the gateway does not answer"),
    ])
    func `our own page says what the browser does not do or may not`(
        _ source: String, _ missing: String, _ words: String
    ) throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let page = gateway.url.replacing("/whip", with: "/publish")
        let told = try Self.run(
            "publish_page.py", [page, "chromium", "error"], environment: ["WITHOUT": missing, "SOURCE": source])
        #expect(told.contains(words), "\(told)")
    }

    @Test
    func `our own page ends a publish whose picture has ended`() throws {
        let gateway = try TestGateway(workers: 2)
        defer { gateway.stop() }
        let page = gateway.url.replacing("/whip", with: "/publish")
        let told = try Self.run("publish_page.py", [page, "chromium", "stopped 200"], environment: ["SOURCE_ENDS": "1"])
        #expect(told.contains("the video source has ended"), "\(told)")
        #expect(eventually(within: 60) { gateway.leases.liveCount == 0 })
    }

    @Test
    func `our own page lets go of its sources at once where nobody answers its Stop`() throws {
        let gateway = try TestGateway(workers: 2)
        defer { gateway.stop() }
        let page = gateway.url.replacing("/whip", with: "/publish")
        let told = try Self.run(
            "publish_page.py", [page, "chromium", "sources are off"], environment: ["STOP_UNANSWERED": "1"])
        #expect(told.contains("published"), "\(told)")
    }

    @Test
    func `our own page goes on by another way when its network changes`() throws {
        let gateway = try TestGateway(workers: 2)
        defer { gateway.stop() }
        let page = gateway.url.replacing("/whip", with: "/publish")
        let told = try Self.run(
            "publish_page.py", [page, "chromium", "went another way"], environment: ["NETWORK_CHANGES": "1"])
        #expect(told.contains("looking for another way") && !told.contains("ended:"), "\(told)")
    }

    @Test(arguments: ["kick", "takeover"])
    func `our own page says at once why a publish was ended`(_ how: String) throws {
        let gateway = try TestGateway(workers: 2)
        defer { gateway.stop() }
        let page = gateway.url.replacing("/whip", with: "/publish")
        let told = Lock("")
        let browser = Thread {
            let output = (try? Self.run("publish_page.py", [page, "chromium", "ended:"])) ?? "no script"
            told.withLock { $0 = output }
        }
        browser.start()
        let count = { gateway.output["chromium"]?.video.count ?? 0 }
        _ = eventually(within: 300) { count() > 30 || !told.withLock { $0 }.isEmpty }
        try #require(count() > 30, "\(told.withLock { $0 })")
        if how == "kick" {
            let holder = gateway.leases.content.withLock { $0.holders["chromium"]?.holder }
            holder?.end(.disconnected(Refusal(.participantDisconnected)))
        } else {
            _ = try #require(try TestClient.connected("chromium", to: gateway))
        }
        #expect(eventually(within: 60) { !told.withLock { $0 }.isEmpty })
        let words = how == "kick" ? "ended: SD-1007: The participant was disconnected" : "ended: Another session of the same"
        #expect(told.withLock { $0 }.contains(words), "\(told.withLock { $0 })")
    }

    /// libnice does not use 127.0.0.1: GStreamer gets a network namespace with a cable to us.
    @Test(.enabled(if: Privileges.makesNetworks, "makes a network namespace, which needs root"))
    func `GStreamer's webrtcbin publishes from a network namespace and trickles`() throws {
        let cable = "wh\(getpid())"
        // Four addresses of 10.77.0.0/16: several runs go on side by side.
        let (network, first) = ("10.77.\(UInt8.random(in: 0...255))", 4 * Int.random(in: 0..<64))
        let near = "\(network).\(first + 1)"
        defer { _ = Self.shell("ip netns del \(cable)") }
        let isReady = Self.shell(
            """
            set -e; ip netns add \(cable); ip link add \(cable)a type veth peer name \(cable)b; ip link set \(cable)b netns \(cable)
            ip addr add \(near)/30 dev \(cable)a; ip link set \(cable)a up; ip -n \(cable) link set lo up
            ip -n \(cable) addr add \(network).\(first + 2)/30 dev \(cable)b; ip -n \(cable) link set \(cable)b up
            """)
        try #require(isReady.status == 0, "\(isReady.output)")
        let gateway = try TestGateway(workers: 2, at: #require(IPAddress(near)))
        defer { gateway.stop() }
        let script = repositoryRoot + "Tests/Interop/Clients/gst_whip.py"
        let line = "exec ip netns exec \(cable) /usr/bin/python3 \(script) 400 \(gateway.url) gstreamer"
        let client = Self.shell(line) {
            gateway.output["gstreamer"].map { $0.video.count > 100 && $0.keyframes >= 2 && $0.audio.count > 100 } == true
        }.output
        #expect(client.contains("POST 201") && client.contains("PATCH 204") && client.contains("state connected"), "\(client)")
        let stream = try #require(gateway.output["gstreamer"])
        #expect(stream.video.count > 100 && stream.keyframes >= 2 && stream.audio.count > 100, "\(client)")
        #expect(client.contains("DELETE 200") && stream.ended == .closed, "\(client)")
    }

    static func shell(_ commands: String, until isEnough: (() -> Bool)? = nil) -> (status: Int32, output: String) {
        execute("/bin/sh", ["-c", commands], environment: [:], until: isEnough)
    }

    /// Runs a script of Tests/Interop/Clients to its end, which its own alarm sees to; returns what it printed.
    /// - Parameter isEnough: it is told to end once this holds (SIGUSR2), which no clock of a busy machine knows.
    static func run(
        _ script: String, _ arguments: [String], environment: [String: String] = [:], until isEnough: (() -> Bool)? = nil
    ) throws -> String {
        let line = [repositoryRoot + "Tests/Interop/Clients/" + script] + arguments
        return execute(python, line, environment: environment, until: isEnough).output
    }

    private static func execute(
        _ program: String, _ arguments: [String], environment: [String: String], until isEnough: (() -> Bool)? = nil
    ) -> (status: Int32, output: String) {
        let process = Process()
        process.executableURL = URL(filePath: program)
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        guard (try? process.run()) != nil else { return (-1, "\(program) did not start") }
        if let isEnough, eventually(within: 300, { isEnough() || !process.isRunning }), process.isRunning {
            kill(process.processIdentifier, SIGUSR2)
        }
        let data = output.readToEnd()
        process.waitUntilExit()
        return (process.terminationStatus, String(decoding: data, as: UTF8.self))
    }
}
