import Admission
import EventLoop
import TestSupport
import Testing
import Wire

@testable import ClusterStore
@testable import Store

/// What the history of a publish costs the servers: the figures of docs/scaling.md, counted by the server itself.
@Suite("Cost of history", .timeLimit(.minutes(10)))
struct HistoryCostTests {
    private final class Holder: LeaseHolder {
        let lastProgress = MonotonicTime.zero
        let hasEnded = false
        func end(_ reason: LeaseEnd) {}
    }

    /// Calls of scripts, as `INFO commandstats` counts them.
    private func scripts(_ bench: ClusterBench) throws -> Int {
        let lines = try bench.ask("INFO", "commandstats").split(whereSeparator: \.isNewline)
        return ["eval", "evalsha"].reduce(0) { sum, command in
            let line = lines.first { $0.hasPrefix("cmdstat_\(command):") }
            return sum + (line.flatMap { $0.split { ":=,".contains($0) }.dropFirst(2).first }.flatMap { Int($0) } ?? 0)
        }
    }

    private func processorTime(_ bench: ClusterBench) throws -> Double {
        try bench.ask("INFO", "cpu").split(whereSeparator: \.isNewline).reduce(0) { sum, line in
            guard line.hasPrefix("used_cpu_user:") || line.hasPrefix("used_cpu_sys:") else { return sum }
            return sum + (Double(line.split(separator: ":").last ?? "") ?? 0)
        }
    }

    @Test func `a publish from its start to its end is twelve scripts`() async throws {
        let bench = try ClusterBench()
        let node = try bench.node("a")
        let local = LocalLeases(node: "node", record: { node.store.record($0) }, wallNow: { EventLoop.wallNow() })
        let stage = ClusterBench.stage("one")
        let session = StageSession(stageARN: stage.arn, sessionID: "st-abcdefghijklm", startTime: ClusterBench.now)
        func publish(_ id: String) {
            let lease = PublishLease(participantID: id, stageID: "one", stageSessionID: session.sessionID, generation: 5)
            let grant = PublishGrant(participantID: id, stageARN: stage.arn, stageID: "one", credentialHash: "h")
            _ = local.insert(LocalLeases.Entry(lease: lease, grant: grant, holder: Holder()), .rtmp, session: session)
            _ = local.started(lease)
            local.release(lease)
        }
        // The session's begin, which the first one tells, and texts of scripts that the server does not know yet.
        publish("first")
        try await eventually { node.store.statistics.forwarded == 8 }
        let (before, processor) = (try scripts(bench), try processorTime(bench))
        for number in 0..<200 { publish("p\(number)") }
        // As the stage is idle between two, each tells the session's begin anew, which changes nothing.
        try await eventually { node.store.statistics.forwarded == 1_608 }
        let calls = try scripts(bench) - before
        let microseconds = (try processorTime(bench) - processor) / 200 * 1e6
        print("\(calls) scripts, \(Int(microseconds)) µs each of the server's processor, for the history of 200 publishes")
        // Twelve each, and the store's look at the changes of others once a second.
        #expect((2_400...2_460).contains(calls))
    }
}
