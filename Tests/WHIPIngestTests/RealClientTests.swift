import Foundation
import StageHub
import TestSupport
import Testing

@testable import WHIPIngest

/// Programs of other people against our media port. Without the Python environment of scripts/install-deps they are skipped.
@Suite("Real WHIP clients", .serialized, .timeLimit(.minutes(3)))
struct RealClientTests {
    static let python = repositoryRoot + ".deps/venv/bin/python"
    static let hasPython = FileManager.default.isExecutableFile(atPath: python)

    @Test(.enabled(if: hasPython), arguments: ["av", "va", "v"])
    func `aiortc publishes, is forwarded with keyframes, and stops with 200`(_ order: String) throws {
        let gateway = try TestGateway(workers: 2)
        defer { gateway.stop() }
        let client = try Self.run(
            "aiortc_whip.py", ["6", gateway.url, "aiortc"], environment: ["ORDER": order])
        #expect(client.contains("POST 201") && client.contains("state connected"), "\(client)")
        let stream = try #require(gateway.output["aiortc"])
        #expect(stream.video.count > 50 && stream.keyframes >= 1)
        #expect(stream.audio.count > (order.contains("a") ? 100 : -1))
        #expect(stream.video.count == Set(stream.video).count)
        #expect(client.contains("DELETE 200") && stream.ended == .unpublished, "\(client)")
        #expect(gateway.leases.liveCount == 0)
    }

    @Test(.enabled(if: hasPython))
    func `aiortc without H.264 is told what to enable`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let client = try Self.run("aiortc_whip.py", ["1", gateway.url, "vp8"], environment: ["CODEC": "VP8"])
        #expect(client.contains("POST 422") && client.contains("enable H.264"), "\(client)")
    }

    @Test(.enabled(if: hasPython), arguments: [false, true])
    func `the conformance script finds nothing`(_ isStrict: Bool) throws {
        let gateway = try TestGateway { $0.usesStrictETags = isStrict }
        defer { gateway.stop() }
        let report = try Self.run("whip_conformance.py", [gateway.url, "alice"] + (isStrict ? ["--strict-etags"] : []))
        #expect(report.contains("failed: 0") && !report.contains("FAIL"), "\(report)")
    }

    static let hasChromium = hasPython && FileManager.default.isExecutableFile(atPath: "/usr/bin/chromedriver")

    @Test(.enabled(if: hasChromium), arguments: ["pattern", "camera"])
    func `Chromium publishes from our own page`(_ source: String) throws {
        let gateway = try TestGateway(workers: 2)
        defer { gateway.stop() }
        let page = gateway.url.replacing("/whip", with: "/publish")
        let client = try Self.run("browser_whip.py", ["8", page, "chromium", source])
        #expect(client.contains("connection connected") && client.contains("stopped 200"), "\(client)")
        let stream = try #require(gateway.output["chromium"])
        #expect(stream.video.count > 100 && stream.keyframes >= 1 && stream.audio.count > 100, "\(client)")
        #expect(stream.ended == .unpublished)
    }

    /// Runs a script of Tests/Interop/Clients to its end, which its own alarm sees to; returns what it printed.
    static func run(_ script: String, _ arguments: [String], environment: [String: String] = [:]) throws
        -> String
    {
        let process = Process()
        process.executableURL = URL(filePath: python)
        process.arguments = [repositoryRoot + "Tests/Interop/Clients/" + script] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }
}
