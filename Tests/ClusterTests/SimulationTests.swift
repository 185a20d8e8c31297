import Foundation
import Testing
import Wire

@testable import Cluster

/// A platform under deaths, a partition and a silent server, on the real machines (docs/scaling.md).
@Suite("Simulation of a platform", .timeLimit(.minutes(20)))
struct SimulationTests {
    /// STAGEDOOR_SIMULATION=full: 1,000 nodes and 100,000 encoders; build it optimised.
    private static var plan: Simulation.Plan {
        var plan = Simulation.Plan()
        if ProcessInfo.processInfo.environment["STAGEDOOR_SIMULATION"] == "full" {
            (plan.nodes, plan.encoders) = (1_000, 100_000)
        }
        return plan
    }

    @Test func `deaths, a partition and a silent server break no rule`() {
        let began = ContinuousClock.now
        let report = Simulation(Self.plan).run()
        print("simulated 100 s in \(ContinuousClock.now - began): \(report)")
        #expect(report.violations.isEmpty)
        // The story has everything in it that it is told for.
        #expect(report.killedSessions > 0)
        #expect(report.refusedFull > 0)
        #expect(report.takenOver > 10)
        #expect(report.surplus > 0)
        #expect(report.joinedElsewhere > 0)
        // One message in a hundred is lost; three in a row once in some hours of a waiting pair.
        #expect(report.joinedInVain * 20 < report.joinedElsewhere)
        #expect(report.revived > 0)
        #expect(report.closed >= report.killedSessions)
        #expect(report.flowing > Self.plan.encoders * 8 / 10)
    }

    @Test(
        arguments: (ProcessInfo.processInfo.environment["STAGEDOOR_SIMULATION"] == nil ? 2...5 : 2...200) as ClosedRange<UInt64>)
    func `whatever the seed`(seed: UInt64) {
        #expect(Simulation(Simulation.Plan(nodes: 25, encoders: 600, seed: seed)).run().violations.isEmpty)
    }

    @Test func `the same seed tells the same story`() {
        let plan = Simulation.Plan(nodes: 25, encoders: 300, seed: 7)
        let (first, second) = (Simulation(plan).run(), Simulation(plan).run())
        #expect(first == second)
        #expect(first.digest != Simulation(Simulation.Plan(nodes: 25, encoders: 300, seed: 8)).run().digest)
    }
}
