import EventLoop
import Foundation
import HTTP
import HTTPServer
import Settings
import Store
import TestSupport
import Testing
import Wire

@testable import ControlPlane

/// A control plane behind the real HTTP server, on a thread of its own.
final class ServedAPI: Sendable {
    private let address = Lock<SocketAddress?>(nil)
    private let isDone = Lock(false)
    private let thread: WorkerThread

    init() throws {
        let (address, isDone) = (address, isDone)
        thread = try WorkerThread.start(name: "api") {
            do {
                let bench = try APIBench { settings in
                    settings.admin.auth = .sigv4
                    (settings.rates.resources, settings.rates.tokens) = (100_000, 100_000)
                    (settings.rates.publicKeys, settings.rates.tags) = (100_000, 100_000)
                    (settings.quotas.ingestConfigurations, settings.quotas.storageConfigurations) = (1_000, 1_000)
                }
                let plane = bench.plane
                let configuration = HTTPServerConfiguration(
                    requestTimeout: .seconds(10), idleTimeout: .seconds(60), maximumBodyLength: 64 << 10,
                    maximumConnections: 100, maximumConnectionsPerAddress: 100)
                let server = HTTPServer(loop: bench.loop, configuration: configuration) { request, exchange in
                    plane.handle(request) { exchange.respond($0) }
                }
                let bound = try server.listen(on: SocketAddress(.loopback, port: 0))
                address.withLock { $0 = bound }
                while !isDone.withLock({ $0 }) { _ = bench.loop.run(until: { false }, within: .milliseconds(20)) }
            } catch {
                Issue.record("the API does not start: \(error)")
            }
        }
    }

    deinit {
        isDone.withLock { $0 = true }
        thread.join()
    }

    var endpoint: String {
        get throws {
            waitUntil { address.withLock { $0 } != nil }
            return "http://\(try #require(address.withLock { $0 }))"
        }
    }

    /// Runs the Python client; its output, and whether it found no fault.
    func judge(_ command: String) throws -> (output: String, isFaultless: Bool) {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..").standardized
        let script = root.appending(path: "Tests/Interop/Clients/control_api.py")
        let process = Process()
        var environment = ProcessInfo.processInfo.environment
        environment["PATH"] = root.appending(path: ".deps/venv/bin").path + ":" + (environment["PATH"] ?? "")
        process.environment = environment
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3", script.path, command, try endpoint, "AKIDEXAMPLE", "secret"]
        let pipe = Pipe()
        (process.standardOutput, process.standardError) = (pipe, pipe)
        try process.run()
        let output = pipe.readToEnd()
        process.waitUntilExit()
        return (String(decoding: output, as: UTF8.self), process.terminationStatus == 0)
    }
}

@Suite("Control API before botocore", .serialized)
struct BotocoreTests {
    @Test(.timeLimit(.minutes(10)))
    func `boto3 walks the guide`() throws {
        let (output, isFaultless) = try ServedAPI().judge("walk")
        #expect(isFaultless, "\(output)")
    }

    @Test(.timeLimit(.minutes(10)))
    func `every constrained member is taken at its limit and refused beyond`() throws {
        let (output, isFaultless) = try ServedAPI().judge("sweep")
        #expect(isFaultless, "\(output)")
    }
}
