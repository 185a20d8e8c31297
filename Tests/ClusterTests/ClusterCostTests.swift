import Admission
import Cluster
import EventLoop
import Settings
import Store
import TestSupport
import Testing
import Wire

/// What the platform costs its server: the figures of docs/scaling.md, counted by the server itself.
@Suite("Cost of the platform", .timeLimit(.minutes(10)), .serialized)
struct ClusterCostTests {
    private static let stages = (0..<100).map { "stage\($0)" }

    /// Calls of scripts, as `INFO commandstats` counts them; of commands within scripts too.
    private func count(_ command: String, _ server: RedisServer) throws -> Int {
        let line = try server.ask("INFO", "commandstats").split(whereSeparator: \.isNewline).first {
            $0.hasPrefix("cmdstat_\(command):")
        }
        return line.flatMap { $0.split { ":=,".contains($0) }.dropFirst(2).first }.flatMap { Int($0) } ?? 0
    }

    private func figure(_ name: String, of section: String, _ server: RedisServer) throws -> Double {
        let line = try server.ask("INFO", section).split(whereSeparator: \.isNewline).first { $0.hasPrefix("\(name):") }
        return try #require(line.flatMap { Double($0.dropFirst(name.count + 1)) })
    }

    /// A node that says as little as it can of itself, so that what is counted is what the test does.
    private func quietNode(_ server: RedisServer) throws -> TestNode {
        let node = try TestNode("a", on: server, stages: Self.stages) {
            ($0.cluster.heartbeatInterval, $0.cluster.heartbeatLifetime) = (.seconds(3_600), .seconds(7_200))
            ($0.cluster.renewalInterval, $0.cluster.leaseLifetime) = (.seconds(3_600), .seconds(7_200))
            $0.quotas.publishersPerStage = 1_000
        }
        try #require(node.waitUntilReady())
        return node
    }

    @Test func `a publish is one script, and the first of a stage at its node a mark more`() throws {
        let server = try RedisServer()
        defer { withExtendedLifetime(server) {} }
        let node = try quietNode(server)
        try server.ask("CONFIG", "RESETSTAT")
        for number in 0..<10 {
            for stage in Self.stages { #expect(TestClaim("p\(number)", at: node, stage: stage).settled().lease != nil) }
        }
        #expect(try count("evalsha", server) + count("eval", server) <= 1_001)
        #expect(try count("sadd", server) == 100)
    }

    @Test func `an end is one script more`() throws {
        let server = try RedisServer()
        defer { withExtendedLifetime(server) {} }
        let node = try quietNode(server)
        // The server knows the scripts from then on.
        node.leases.release(try #require(TestClaim("p", at: node, stage: "stage0").settled().lease))
        #expect(live(["p"], stage: "stage0", asking: node) == [])
        let leases = try (0..<10).map { try #require(TestClaim("p\($0)", at: node, stage: "stage0").settled().lease) }
        try server.ask("CONFIG", "RESETSTAT")
        for lease in leases { node.leases.release(lease) }
        #expect(live(leases.map(\.participantID), stage: "stage0", asking: node) == [])
        // And the look.
        #expect(try count("evalsha", server) == 11)
        #expect(try count("eval", server) == 0)
    }

    @Test func `a second costs one heartbeat, and a third of a renewal for each stage of each node`() throws {
        let server = try RedisServer()
        defer { withExtendedLifetime(server) {} }
        // A third of the usual lifetime: three rounds of renewals take three seconds.
        let node = try TestNode("a", on: server, stages: Self.stages) {
            ($0.cluster.leaseLifetime, $0.cluster.renewalInterval) = (.seconds(4), .seconds(1))
            $0.quotas.publishersPerStage = 1_000
        }
        try #require(node.waitUntilReady())
        for number in 0..<2 {
            for stage in Self.stages { _ = TestClaim("p\(number)", at: node, stage: stage).settled() }
        }
        try server.ask("CONFIG", "RESETSTAT")
        let began = EventLoop.monotonicNow()
        // Late loops make fewer, never more: 100 renewals, a list of nodes and a heartbeat a second.
        waitUntil { EventLoop.monotonicNow() - began > .seconds(3) && (try? count("evalsha", server)) ?? 0 >= 100 }
        let calls = try count("evalsha", server)
        let seconds = (EventLoop.monotonicNow() - began).inSeconds
        print("\(calls) scripts in \(seconds) s: 100 stages with 2 publishers each at one node")
        #expect(Double(calls) <= (seconds + 1) * 102)
        #expect(calls >= 100)
    }

    @Test func `a publisher takes half a kilobyte of the server, and little of its time`() throws {
        let server = try RedisServer()
        defer { withExtendedLifetime(server) {} }
        let node = try quietNode(server)
        let before = try figure("used_memory", of: "memory", server)
        for number in 0..<10 {
            for stage in Self.stages { _ = TestClaim("p\(number)abcdefghijk", at: node, stage: stage).settled() }
        }
        let bytes = (try figure("used_memory", of: "memory", server) - before) / 1_000
        let processor = try processorTime(server)
        for stage in Self.stages.prefix(10) { _ = live(["p0abcdefghijk"], stage: stage, asking: node) }
        for number in 0..<2_000 { _ = TestClaim("q", at: node, stage: Self.stages[number % 100], takeOver: true).settled() }
        let microseconds = (try processorTime(server) - processor) / 2_000 * 1e6
        print(
            "\(Int(bytes)) bytes for a publisher; \(Int(microseconds)) µs of the server's processor for a claim on a stage of 10")
        #expect(bytes < 1_024)
        #expect(microseconds < 2_000)
    }

    @Test(arguments: [1, 10])
    func `a renewal of a stage takes little of the server's time`(publishers: Int) throws {
        let server = try RedisServer()
        defer { withExtendedLifetime(server) {} }
        let node = try TestNode("a", on: server, stages: Self.stages) {
            ($0.cluster.renewalInterval, $0.quotas.publishersPerStage) = (.milliseconds(200), 1_000)
        }
        try #require(node.waitUntilReady())
        for number in 0..<publishers {
            for stage in Self.stages { _ = TestClaim("p\(number)abcdefghijk", at: node, stage: stage).settled() }
        }
        try server.ask("CONFIG", "RESETSTAT")
        let processor = try processorTime(server)
        #expect(waitUntil { (try? count("evalsha", server)) ?? 0 > 500 })
        let calls = try count("evalsha", server)
        let microseconds = (try processorTime(server) - processor) / Double(calls) * 1e6
        print("\(Int(microseconds)) µs of the server's processor for a renewal of \(publishers) of a stage")
        #expect(microseconds < 2_000)
    }

    private func processorTime(_ server: RedisServer) throws -> Double {
        try figure("used_cpu_user", of: "cpu", server) + figure("used_cpu_sys", of: "cpu", server)
    }
}
