import EventLoop
import Foundation
import Store
import TestSupport
import Testing
import Wire

@testable import ClusterStore

/// The figures of docs/cluster-schema.md. `STAGEDOOR_RECORDS=100000` makes them; a run without it
/// only sees that they can be made.
@Suite("What a platform's size costs", .timeLimit(.minutes(20)))
struct ClusterScaleTests {
    private static let records = ProcessInfo.processInfo.environment["STAGEDOOR_RECORDS"].flatMap(Int.init) ?? 2_000

    private static func record(_ index: Int) -> Record {
        if index % 2 == 0 { return .stage(ClusterBench.stage("stage\(index)")) }
        return .ingestConfiguration(
            IngestConfiguration(
                arn: ResourceName().arn(.ingestConfiguration, "c\(index)"), name: "camera \(index)",
                stageARN: ClusterBench.stage("stage\(index - 1)").arn, participantID: Identifier.resource(),
                streamKey: Secret(ResourceName().streamKey(identifier: "c\(index)", secret: Identifier.random(32))),
                transport: .rtmps, insecureIngest: false, createdAt: ClusterBench.now))
    }

    @Test
    func `memory, time to load and time of a transaction`() async throws {
        let bench = try ClusterBench()
        let node = try bench.node("a")
        let clock = ContinuousClock()
        let writing = try await clock.measure {
            for start in stride(from: 0, to: Self.records, by: 1_000) {
                try await node.write { transaction in
                    for index in start..<min(start + 1_000, Self.records) { transaction.put(Self.record(index)) }
                }
            }
        }
        let before = SimulatedDay.residentBytes
        var second: TestNode?
        let loading = try clock.measure { second = try bench.node("b") }
        let bytes = (SimulatedDay.residentBytes - before) / Self.records
        var times: [Duration] = []
        for index in 0..<100 {
            times.append(try await clock.measure { try await node.write { $0.put(ClusterBench.stage("new\(index)")) } })
        }
        times.sort()
        try await eventually { second?.state.stages.count == Self.records / 2 + 100 }
        let memory =
            try bench.ask("INFO", "memory").split(whereSeparator: \.isNewline).first { $0.hasPrefix("used_memory:") } ?? ""
        print(
            """
            \(Self.records) records: written in \(writing), loaded in \(loading), \(bytes) bytes each in a node, redis \(memory), \
            a transaction \(times[50]), 99th of 100 \(times[98])
            """)
    }
}
