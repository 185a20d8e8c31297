import EventLoop
import GatewayMetrics
import Glibc
import HTTP
import HTTPServer
import OpenSSL
import Sockets
import TestSupport
import Testing
import Wire

@Suite("HTTP server and curl", .timeLimit(.minutes(10)), .serialized)
struct RealClientTests {
    /// Runs curl against the server, whose loop turns meanwhile; what it printed, and how it ended.
    private func curl(_ server: ServerUnderTest, _ arguments: [String]) throws -> (output: String, status: CInt) {
        var pipe: [CInt] = [0, 0]
        try #require(Glibc.pipe(&pipe) == 0)
        for end in pipe { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, pipe[1], 1)
        let line = ["curl", "-sS", "--max-time", "100"] + arguments
        var words: [UnsafeMutablePointer<CChar>?] = line.map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var process = pid_t()
        try #require(posix_spawn(&process, "/usr/bin/curl", &actions, nil, &words, environ) == 0)
        close(pipe[1])
        var output: [UInt8] = []
        var isAtEnd = false
        let watch = server.loop.watch(descriptor: pipe[0], for: .read) {
            var buffer = [UInt8](repeating: 0, count: 65_536)
            let count = read(pipe[0], &buffer, buffer.count)
            if count > 0 { output += buffer[..<count] } else { isAtEnd = true }
        }
        #expect(server.wait { isAtEnd })
        watch.cancel()
        close(pipe[0])
        var status: CInt = 0
        try #require(waitpid(process, &status, 0) == process)
        return (String(decoding: output, as: UTF8.self), status)
    }

    @Test func `one connection serves several requests`() throws {
        let server = try ServerUnderTest()
        let url = "http://\(server.address)"
        let (output, status) = try curl(server, ["\(url)/a", "\(url)/b?x=1", "-d", "body"])
        #expect(status == 0)
        #expect(output == "POST /a 4\nPOST /b 4\n")
        #expect(server.server.counters.accepted.value == 1)
    }

    @Test func `HEAD, chunked uploads, 100 Continue, HTTP 1.0`() throws {
        let server = try ServerUnderTest()
        let url = "http://\(server.address)"
        #expect(try curl(server, ["-I", "\(url)/h"]).output.contains("Content-Length: 10\r\n"))
        let body = String(repeating: "z", count: 900)
        let chunked = ["-H", "Transfer-Encoding: chunked", "-H", "Expect: 100-continue", "-d", body, "\(url)/c"]
        #expect(try curl(server, chunked).output == "POST /c 900\n")
        #expect(try curl(server, ["-0", "\(url)/old"]).output == "GET /old 0\n")
        #expect(try curl(server, ["-X", "DELETE", "\(url)/d"]).output == "DELETE /d 0\n")
        #expect(try curl(server, ["-w", "%{http_code}", "-o", "/dev/null", "-d", body + body, "\(url)/e"]).output == "413")
    }

    @Test func `curl trusts our certificate, and a balancer's header`() throws {
        let material = try TestTLS.material()
        var name = Array("/tmp/stagedoor-ca-XXXXXX".utf8CString)
        let file = mkstemp(&name)
        let pem = try material.authority.certificate.pem()
        #expect(write(file, pem, pem.count) == pem.count)
        close(file)
        let path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { unlink(path) }
        let server = try ServerUnderTest(tls: material.server) { $0.trustedProxies = [IPNetwork("127.0.0.1")!] }
        let url = "https://localhost:\(server.address.port)/s"
        #expect(try curl(server, ["-4", "--cacert", path, url]).output == "GET /s 0\n")
        #expect(try curl(server, ["-4", url]).status != 0)
        #expect(server.requests.count == 1 && server.requests[0].isSecure)
    }

    @Test func `an event stream reaches curl as it is sent`() throws {
        let server = try ServerUnderTest()
        let sending = server.loop.schedule(after: .milliseconds(5), repeating: .milliseconds(5)) {
            guard let stream = server.streams.first else { return }
            stream.send(ServerSentEvent(event: "active", data: "1"))
            if server.requests.count == 1 { stream.close() }
        }
        let (output, status) = try curl(server, ["-N", "http://\(server.address)/events"])
        #expect(status == 0)
        #expect(output == "event: active\ndata: 1\n\n")
        sending.cancel()
    }
}

@Suite("HTTP server under abuse", .timeLimit(.minutes(10)), .serialized)
struct AbuseTests {
    @Test func `20,000 mutated requests leave it alive and no connection behind`() throws {
        let server = try ServerUnderTest { $0.requestTimeout = .milliseconds(500) }
        var generator = SplitMix64(seed: 11)
        let seeds = HTTPServerTests.raw.map { Array($0.0.utf8) }.filter { $0.count < 1000 }
        for round in 0..<200 {
            let clients = try (0..<20).map { _ in try server.connect() }
            for client in clients {
                for _ in 0..<5 { client.stream.write(mutated(seeds[round % seeds.count], &generator)) }
            }
            #expect(server.loop.run(until: { clients.allSatisfy { $0.stream.pendingWriteBytes == 0 } }, within: .seconds(60)))
        }
        #expect(server.wait { server.server.connectionCount == 0 })
        #expect(try server.exchange("GET /alive HTTP/1.1\r\n\(HTTPServerTests.close)\r\n").hasPrefix("HTTP/1.1 200"))
        #expect(server.server.counters.malformed.value > 1000)
    }

    private func mutated(_ seed: [UInt8], _ generator: inout SplitMix64) -> [UInt8] {
        var bytes = seed
        for _ in 0..<Int.random(in: 0...4, using: &generator) {
            let index = Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
            case 1: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: index)
            default: if bytes.count > 1 { bytes.remove(at: index) }
            }
        }
        return bytes
    }

    @Test func `100 silent connections end at their deadline and leave no descriptor`() throws {
        let server = try ServerUnderTest { $0.requestTimeout = .milliseconds(300) }
        var clients = try (0..<100).map { _ in try server.connect() }
        #expect(server.wait { server.server.counters.accepted.value == 100 })
        #expect(server.wait { clients.allSatisfy(\.isClosed) })
        clients = []
        #expect(server.server.connectionCount == 0)
        #expect(server.server.counters.timedOut.value == 100)
    }
}
