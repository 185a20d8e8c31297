import EventLoop
import Foundation
import Glibc
import OpenSSL
import Sockets
import TestSupport
import Testing
import Wire

@Suite("Peers that behave badly", .timeLimit(.minutes(10)), .serialized)
struct HostilePeerTests {
    @Test func `a thousand connections ended by RST leave no descriptor behind`() throws {
        let loop = try EventLoop()
        let server = try Server(loop: loop)
        server.prepare = { [unowned server] stream in
            stream.onClosed = { [unowned server, unowned stream] closure in
                server.closures.append(closure)
                server.accepted.removeAll { $0 === stream }
            }
        }
        func round() throws {
            server.closures = []
            for _ in 0..<1_000 {
                let client = try Resetter(to: server.address)
                #expect(server.wait { server.accepted.count == 1 })
                client.reset()
                #expect(server.wait { server.accepted.isEmpty })
            }
            #expect(server.closures.count == 1_000)
            #expect(server.closures.allSatisfy { $0 == .broken(ECONNRESET) })
        }
        let before = openDescriptors()
        try round()
        // Other suites run beside this one; a leak would be a thousand.
        #expect(openDescriptors() - before < 200)
    }

    /// ffmpeg closes without reading our last acknowledgement, so a reset follows its goodbye at once.
    @Test func `what came before a reset is read, though an answer cannot be sent any more`() throws {
        let server = try Server(loop: try EventLoop())
        var received = 0
        server.prepare = { stream in
            stream.pauseReading()
            stream.onBytes = { [unowned stream] bytes in
                received += bytes.count
                stream.write([1])
                return bytes.count
            }
        }
        let client = try Resetter(to: server.address)
        #expect(server.wait { server.accepted.count == 1 })
        client.write(100_000)
        client.reset()
        server.accepted[0].resumeReading()
        #expect(server.wait { !server.closures.isEmpty })
        #expect(received == 100_000, "two reads, between which writing failed")
        guard case .broken = server.closures[0] else { return #expect(Bool(false), "\(server.closures)") }
    }

    @Test(.enabled(if: SimulatedDay.isWhole, "memory is the whole process': run `make soak`"))
    func `an idle connection costs at most 8 kB`() throws {
        let loop = try EventLoop()
        let server = try Server(loop: loop)
        var received = 0
        server.prepare = { stream in
            stream.onBytes = { bytes in
                received += bytes.count
                return bytes.count
            }
        }
        func connect(_ count: Int) throws -> [Resetter] {
            let total = server.accepted.count + count
            let clients = try (0..<count).map { _ in try Resetter(to: server.address) }
            #expect(server.wait { server.accepted.count == total })
            return clients
        }
        let first = try connect(200)
        first.forEach { $0.write(200_000 / 200) }
        #expect(server.wait { received == 200_000 })
        let before = SimulatedDay.residentBytes
        let count = 300
        let others = try connect(count)
        others.forEach { $0.write(3_000) }
        #expect(server.wait { received == 200_000 + count * 3_000 })
        #expect((SimulatedDay.residentBytes - before) / count <= 8_192)
        #expect(server.accepted.count == 500)
    }

    @Test func `a client that never says hello is cut off when the loop's limit says`() throws {
        let loop = try EventLoop()
        HandshakeScheduler.of(loop).limits = HandshakeLimits(perSecond: 10, timeout: .milliseconds(700))
        let server = try Server(loop: loop, tls: TestTLS.material().server)
        // Timers fire in the order of their deadlines, however late the loop is.
        var (passed, before): ([Int], [Int]) = ([], [])
        func timer(_ milliseconds: Int) -> TimerWatch {
            loop.schedule(after: .milliseconds(milliseconds)) { passed.append(milliseconds) }
        }
        var timers = [timer(600)]
        server.prepare = { stream in
            timers.append(timer(4_000))
            let closed = stream.onClosed
            stream.onClosed = {
                before = passed
                closed($0)
            }
        }
        let silent = try Resetter(to: server.address)
        #expect(server.wait { !server.closures.isEmpty })
        #expect(server.closures == [.tlsHandshakeTimedOut])
        #expect(before == [600])
        withExtendedLifetime((silent, timers)) {}
    }

    @Test(arguments: 0..<20)
    func `garbage where TLS was expected ends that connection only`(seed: Int) throws {
        let loop = try EventLoop()
        let material = try TestTLS.material()
        let server = try Server(loop: loop, tls: material.server)
        server.prepare = { stream in
            stream.onBytes = { [unowned stream] bytes in
                stream.write(Array(bytes))
                return bytes.count
            }
        }
        let neighbour = try server.connect(tls: material.client, serverName: "localhost")
        #expect(server.wait { neighbour.isOpen })
        // Of what looks like the beginning of a record the rest is waited for.
        HandshakeScheduler.of(loop).limits = HandshakeLimits(perSecond: 10, timeout: .milliseconds(300))
        var generator = SplitMix64(seed: UInt64(seed))
        let client = try server.connect()
        var garbage = (0..<500).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
        if seed % 2 == 0 { garbage.replaceSubrange(0..<3, with: [0x16, 0x03, 0x01]) }
        client.stream.write(garbage)
        #expect(server.wait { !server.closures.isEmpty })
        neighbour.stream.write([1, 2, 3])
        #expect(server.wait { neighbour.received == [1, 2, 3] })
        #expect(server.closures.count == 1)
        withExtendedLifetime(client) {}
    }

    @Test(arguments: [["-tls1_2"], ["-tls1_3"], ["-alpn", "http/1.1"], ["-alpn", "h2"]])
    func `openssl s_client verifies our certificate and talks`(options: [String]) throws {
        let loop = try EventLoop()
        let material = try TestTLS.material()
        let server = try Server(loop: loop, tls: material.server)
        server.prepare = { stream in
            stream.onBytes = { [unowned stream] bytes in
                stream.write(Array("heard \(bytes.count)".utf8))
                stream.closeAfterFlush()
                return bytes.count
            }
        }
        let authority = FileManager.default.temporaryDirectory.appendingPathComponent("ca-\(UUID()).pem")
        try Data(material.authority.certificate.pem()).write(to: authority)
        defer { try? FileManager.default.removeItem(at: authority) }
        let output = try run(
            "openssl",
            [
                "s_client", "-connect", "127.0.0.1:\(server.address.port)", "-CAfile", authority.path, "-verify_return_error",
                "-servername", "localhost", "-verify_hostname", "localhost", "-ign_eof",
            ] + options, input: "hello", on: loop)
        #expect(output.contains("heard 5"))
        #expect(output.contains("Verification: OK"))
        if options == ["-alpn", "http/1.1"] { #expect(output.contains("ALPN protocol: http/1.1")) }
    }

    @Test func `openssl s_client with TLS 1.1 is refused`() throws {
        let loop = try EventLoop()
        let server = try Server(loop: loop, tls: TestTLS.material().server)
        _ = try run(
            "openssl",
            ["s_client", "-connect", "127.0.0.1:\(server.address.port)", "-tls1_1", "-cipher", "DEFAULT@SECLEVEL=0"], input: "",
            on: loop)
        #expect(server.wait { !server.closures.isEmpty })
        guard case .tlsFailed = server.closures[0] else {
            Issue.record("\(server.closures)")
            return
        }
    }

    /// Runs a program beside the loop and returns what it printed.
    private func run(_ name: String, _ arguments: [String], input: String, on loop: EventLoop) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [name] + arguments
        let (stdin, stdout) = (Foundation.Pipe(), Foundation.Pipe())
        (process.standardInput, process.standardOutput, process.standardError) = (stdin, stdout, stdout)
        try process.run()
        stdin.fileHandleForWriting.write(Data(input.utf8))
        try stdin.fileHandleForWriting.close()
        let poll = loop.schedule(after: .zero, repeating: .milliseconds(5)) {}
        #expect(loop.run(until: { !process.isRunning }, within: .seconds(60)))
        poll.cancel()
        // Its output ends with it.
        if process.isRunning { process.terminate() }
        return String(decoding: stdout.readToEnd(), as: UTF8.self)
    }
}

/// A blocking client socket that can end its connection by RST.
final class Resetter {
    private var descriptor: CInt

    init(to address: SocketAddress) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = address.port.bigEndian
        name.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let status = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(status == 0)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func write(_ count: Int) {
        let bytes = [UInt8](repeating: 0x41, count: count)
        _ = Glibc.write(descriptor, bytes, count)
    }

    /// Closes without lingering, which sends RST.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        close(descriptor)
        descriptor = -1
    }
}
