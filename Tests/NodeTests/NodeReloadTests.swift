import DataDirectory
import EventLoop
import Foundation
import GatewayMetrics
import Glibc
import OpenSSL
import Settings
import TestSupport
import Testing
import Wire

@testable import Node

@Suite
struct NodeReloadTests {
    /// A file, and what a reload of it would put into force.
    private final class Bench {
        private let folder: TemporaryDirectory
        private let source: ConfigurationSource
        private let metrics = MetricsRegistry()
        let loop: EventLoop
        private var reload: NodeReload?
        private(set) var changes: [NodeReload.Change] = []

        /// - Parameter interval: of looks at what no file tells; hardly ever, unless the test is about them.
        init(_ file: String, every interval: Duration = .seconds(3_600)) throws {
            (folder, loop) = (try TemporaryDirectory(), try EventLoop())
            source = ConfigurationSource(
                path: folder.path + "/stagedoor.yaml", directory: folder.path + "/data", isQuickstart: false)
            try write(file)
            let running = try source.read()
            let directory = try DataDirectory(at: folder.path + "/data")
            reload = NodeReload(
                loop: loop, source: source, running: running,
                certificates: try ServerCertificates(running, directory: directory), metrics: metrics,
                interval: interval, apply: { [unowned self] in changes.append($0) })
        }

        func write(_ file: String) throws {
            try file.write(toFile: folder.path + "/stagedoor.yaml", atomically: true, encoding: .utf8)
        }

        /// Of a file beside it.
        func path(of name: String) -> String { folder.path + "/" + name }

        /// Another file beside it; returns its path.
        func write(_ bytes: [UInt8], to name: String) throws -> String {
            let path = path(of: name)
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            return path
        }

        /// A file that looks the same after each of these, if it is as long.
        func writeUnnoticed(_ bytes: [UInt8], to name: String) throws -> String {
            let path = try write(bytes, to: name)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: 1_000_000_000)], ofItemAtPath: path)
            return path
        }

        /// Writes a certificate and its key.
        /// - Returns: what an entry of `certificates` says of them.
        func write(_ identity: Identity, as name: String) throws -> String {
            let certificate = try write(identity.certificate.pem(), to: "\(name).pem")
            let key = try write(identity.key.pem().reveal(), to: "\(name).key")
            return "\(name): {certificate: \(certificate), privateKey: \(key)}"
        }

        /// Whether a file that changes was noticed.
        func noticesChange() -> Bool {
            let before = changes.count
            return loop.run(until: { changes.count > before }, within: .seconds(60))
        }

        var exposition: String { String(decoding: metrics.exposition(), as: UTF8.self) }

        /// What the file puts into force; nil when it is refused.
        func load(_ file: String) throws -> NodeReload.Change? {
            try write(file)
            let before = changes.count
            reload?.reload(because: "a test")
            return changes.count > before ? changes.last : nil
        }

        /// What a look at the own certificate puts into force; nil where that is good for long.
        func renew(at now: WallTime) -> NodeReload.Change? {
            let before = changes.count
            reload?.renew(at: now)
            return changes.count > before ? changes.last : nil
        }
    }

    @Test
    func `an unchanged file puts the same into force, and no new certificate`() throws {
        let bench = try Bench("overload: {cpu: 85}")
        let change = try #require(try bench.load("overload: {cpu: 85}"))
        #expect(change.configuration.overload.cpu == 85)
        #expect(change.tls == nil)
    }

    @Test
    func `what can change while running does, the rest stays as it is`() throws {
        let bench = try Bench("overload: {cpu: 85}\nworkers: {verifiers: 1}")
        let change = try #require(try bench.load("overload: {cpu: 70}\nworkers: {verifiers: 2}"))
        #expect(change.configuration.overload.cpu == 70)
        #expect(change.configuration.workers.verifiers == 1, "which waits for a restart")
        let again = try #require(try bench.load("overload: {cpu: 60}\nworkers: {verifiers: 2}"))
        #expect(again.configuration.overload.cpu == 60)
        #expect(again.configuration.workers.verifiers == 1)
    }

    @Test
    func `the check of tokens' endpoints is loosened and tightened while running`() throws {
        let bench = try Bench("overload: {cpu: 85}")
        #expect(try bench.load("tokens: {endpointCheck: lenient}")?.configuration.tokens.endpointCheck == .lenient)
        #expect(try bench.load("overload: {cpu: 85}")?.configuration.tokens.endpointCheck == .strict)
    }

    @Test(arguments: [
        "overload: {cpu: 1000}", "overload: {cpus: 70}", "overload: [", "overload: {cpu: 70}\nstore: {directory: 3, nothing: 4}",
    ])
    func `one fault, and nothing changes`(file: String) throws {
        let bench = try Bench("overload: {cpu: 85}")
        #expect(bench.exposition.contains("stagedoor_reload_refused 0\n"))
        #expect(try bench.load(file) == nil)
        #expect(bench.exposition.contains("stagedoor_reload_refused 1\n"))
        #expect(try bench.load("overload: {cpu: 80}")?.configuration.overload.cpu == 80, "and a mended file is taken")
        #expect(bench.exposition.contains("stagedoor_reload_refused 0\n"))
    }

    /// A certificate that is renewed has another number: where those are hashes, every second one is of 64 bits.
    @Test
    func `files have any number`() {
        var status = stat()
        (status.st_dev, status.st_ino) = (.max, 1 << 63)
        #expect(FileChanges.signature(of: status) == [-1, .min, 0, 0, 0])
    }

    @Test
    func `certificates that cannot be read keep the rest of the file from changing anything`() throws {
        let bench = try Bench("overload: {cpu: 85}")
        let broken = "overload: {cpu: 70}\ncertificates: {a: {certificate: /nothing/a.pem, privateKey: /nothing/a.key}}"
        #expect(try bench.load(broken) == nil)
        #expect(bench.changes.isEmpty)
    }

    /// As where a renewed key becomes ours only after it was written.
    @Test
    func `a reload that was refused is tried again, whether or not a file has changed`() throws {
        let now = EventLoop.wallNow()
        let authority = try Identity.makeAuthority(commonName: "A", now: now, validFor: .seconds(3_600))
        let leaf = try authority.issue(
            commonName: "a.test", dnsNames: ["a.test"], addresses: [], now: now, validFor: .seconds(3_600))
        let bench = try Bench("overload: {cpu: 85}", every: .milliseconds(50))
        let pem = try leaf.certificate.pem()
        let certificate = try bench.writeUnnoticed([UInt8](repeating: 0x20, count: pem.count), to: "a.pem")
        let key = try bench.write(leaf.key.pem().reveal(), to: "a.key")
        #expect(try bench.load("certificates: {a: {certificate: \(certificate), privateKey: \(key)}}") == nil)
        _ = try bench.writeUnnoticed(pem, to: "a.pem")
        #expect(bench.loop.run(until: { bench.changes.count == 1 }, within: .seconds(60)))
        #expect(bench.changes.first?.tls != nil)
    }

    @Test(.timeLimit(.minutes(10)))
    func `a file that is being written is not read half, also where the one before was refused`() throws {
        let bench = try Bench("overload: {cpu: 85}", every: .milliseconds(1))
        #expect(try bench.load("overload: [") == nil)
        var (file, looks) = ("overload: {cpu: 70}\n", 0)
        let writer = bench.loop.schedule(after: .milliseconds(1), repeating: .milliseconds(10)) {
            file += "#"
            try? bench.write(file)
        }
        // As often as the reload looks.
        let watch = bench.loop.schedule(after: .milliseconds(1), repeating: .milliseconds(1), tolerance: .seconds(1)) {
            looks += 1
        }
        let isOver = bench.loop.run(until: { looks >= 3 }, within: .seconds(60))
        for timer in [writer, watch] { timer.cancel() }
        #expect(isOver)
        #expect(bench.changes.isEmpty)
        #expect(bench.noticesChange(), "once it holds still")
        #expect(bench.changes.last?.configuration.overload.cpu == 70)
    }

    @Test
    func `another lowest TLS version makes a new context of the same certificate`() throws {
        let bench = try Bench("tls: {minimumVersion: \"1.2\"}")
        let change = try #require(try bench.load("tls: {minimumVersion: \"1.3\"}"))
        #expect(change.tls != nil)
        #expect(try bench.load("tls: {minimumVersion: \"1.3\"}")?.tls == nil)
    }

    @Test
    func `the own certificate is made anew a month before it ends, whatever has become of the file`() throws {
        let bench = try Bench("overload: {cpu: 85}")
        let (now, day) = (EventLoop.wallNow(), Duration.seconds(86_400))
        try bench.write("overload: [")
        #expect(bench.renew(at: now + day * 59) == nil)
        let change = try #require(bench.renew(at: now + day * 91), "also where a machine slept for so long")
        #expect(change.tls != nil && change.configuration.overload.cpu == 85)
        #expect(bench.renew(at: now + day * 92) == nil)
        #expect(bench.renew(at: now + day * 152) != nil)
    }

    /// As where the machine's clock ran on local time until NTP set it: clients took no certificate of ours for hours.
    @Test
    func `the own certificate is made anew where the clock was set back behind its beginning`() throws {
        let bench = try Bench("overload: {cpu: 85}")
        let now = EventLoop.wallNow()
        #expect(bench.renew(at: now + .seconds(-1_800)) == nil, "it begins an hour early")
        let earlier = now + .seconds(-8 * 3_600)
        #expect(bench.renew(at: earlier)?.tls != nil)
        #expect(bench.renew(at: earlier) == nil)
        let authority = try Certificate(pem: Array(Data(contentsOf: URL(fileURLWithPath: bench.path(of: "data/tls/ca.pem")))))
        #expect(authority.notBefore <= earlier, "which made its authority too")
    }

    @Test
    func `the operator's certificate is nobody else's to renew`() throws {
        let now = EventLoop.wallNow()
        let authority = try Identity.makeAuthority(commonName: "A", now: now, validFor: .seconds(3_600))
        let bench = try Bench("overload: {cpu: 85}")
        let certificate = try bench.write(authority.certificate.pem(), to: "a.pem")
        let key = try bench.write(authority.key.pem().reveal(), to: "a.key")
        #expect(try bench.load("tls: {certificate: \(certificate), privateKey: \(key)}")?.tls != nil)
        #expect(bench.renew(at: now) == nil)
    }

    @Test
    func `an issuer put behind the same certificate is shown, and who is taken away has no metric`() throws {
        let now = EventLoop.wallNow()
        let authority = try Identity.makeAuthority(commonName: "A", now: now, validFor: .seconds(3_600))
        let leaf = try authority.issue(
            commonName: "a.test", dnsNames: ["a.test"], addresses: [], now: now, validFor: .seconds(3_600))
        let bench = try Bench("overload: {cpu: 85}")
        let certificate = try bench.write(leaf.certificate.pem(), to: "a.pem")
        let key = try bench.write(leaf.key.pem().reveal(), to: "a.key")
        let file = "certificates: {a: {certificate: \(certificate), privateKey: \(key)}}"
        #expect(try bench.load(file)?.tls != nil)
        #expect(try bench.load(file)?.tls == nil)
        _ = try bench.write(leaf.certificate.pem() + authority.certificate.pem(), to: "a.pem")
        #expect(try bench.load(file)?.tls != nil)
        #expect(bench.exposition.contains("\"certificates.a\""))
        #expect(try bench.load("overload: {cpu: 85}")?.tls != nil)
        #expect(!bench.exposition.contains("\"certificates.a\""))
    }

    private static func identity(
        named name: String, at now: WallTime = EventLoop.wallNow(), validFor duration: Duration = .seconds(3_600)
    ) throws -> Identity {
        let authority = try Identity.makeAuthority(commonName: "A", now: now, validFor: .seconds(3_600))
        return try authority.issue(commonName: name, dnsNames: [name], addresses: [], now: now, validFor: duration)
    }

    @Test
    func `a certificate that is taken out of the file is shown to nobody any more`() throws {
        let (bench, day) = (try Bench("overload: {cpu: 85}"), Duration.seconds(86_400))
        let file = try bench.write(try Self.identity(named: "a.test", validFor: day * 60), as: "tls")
        #expect(try bench.load(file)?.tls != nil)
        #expect(try bench.load("overload: {cpu: 85}")?.tls != nil, "one of our own is")
        #expect(bench.renew(at: EventLoop.wallNow() + day * 61) != nil, "and is made anew in time")
        let started = try Bench(file)
        #expect(try started.load("overload: {cpu: 85}") == nil, "without an authority there is none before the next start")
        #expect(started.exposition.contains("stagedoor_reload_refused 1\n"))
        withExtendedLifetime(bench) {}  // the folder of the files
    }

    @Test
    func `a certificate that is not valid yet does not replace one that is`() throws {
        let bench = try Bench("overload: {cpu: 85}")
        let early = try bench.write(
            try Self.identity(named: "a.test", at: EventLoop.wallNow() + .seconds(86_400)), as: "a")
        #expect(try bench.load("certificates: {\(early)}") == nil)
        #expect(bench.exposition.contains("stagedoor_reload_refused 1\n"))
    }

    @Test
    func `a certificate in use that has expired keeps no other one from being renewed`() throws {
        let bench = try Bench("overload: {cpu: 85}")
        let expired = try Self.identity(named: "old.test", validFor: .seconds(-60))
        let old = try bench.write(expired, as: "old")
        #expect(try bench.load("certificates: {\(old)}") == nil, "none that has expired is taken")
        let started = try Bench("certificates: {\(old)}")
        #expect(try started.load("certificates: {\(old)}\noverload: {cpu: 70}")?.configuration.overload.cpu == 70)
        let fresh = try started.write(try Self.identity(named: "a.test"), as: "a")
        #expect(try started.load("certificates: {\(old), \(fresh)}")?.tls != nil)
        withExtendedLifetime(bench) {}  // the folder of the expired one
    }

    @Test
    func `a key that does not fit is refused, also of a certificate that is the same`() throws {
        let bench = try Bench("overload: {cpu: 85}")
        let (own, other) = (try Self.identity(named: "a.test"), try Self.identity(named: "a.test"))
        let entry = try bench.write(own, as: "a")
        let file = "certificates: {\(entry)}"
        #expect(try bench.load(file) != nil)
        _ = try bench.write(other.key.pem().reveal(), to: "a.key")
        #expect(try bench.load(file) == nil)
        _ = try bench.write(own.key.pem().reveal(), to: "a.key")
        #expect(try bench.load(file) != nil)
    }

    /// ConfigMap and Secret of a pod are renewed one after the other.
    @Test(.timeLimit(.minutes(10)))
    func `a certificate that comes after the file that names it is noticed`() throws {
        let bench = try Bench("overload: {cpu: 85}")
        let (certificate, key) = (bench.path(of: "a.pem"), bench.path(of: "a.key"))
        #expect(try bench.load("certificates: {a: {certificate: \(certificate), privateKey: \(key)}}") == nil)
        _ = try bench.write(try Self.identity(named: "a.test"), as: "a")
        #expect(bench.noticesChange())
        #expect(bench.changes.last?.tls != nil)
    }
}
