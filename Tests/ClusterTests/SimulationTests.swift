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

    /// Of each there are twelve deaths, and hundreds of nodes that stand still.
    private static let seedsOfDeaths: ClosedRange<UInt64> =
        ProcessInfo.processInfo.environment["STAGEDOOR_SIMULATION"] == nil ? 1...2 : 1...100

    @Test func `of the encoders of nodes that died 95 in 100 are live elsewhere within 5 s`() {
        var absences = SimulationReport()
        for seed in Self.seedsOfDeaths {
            let report = Simulation(.deaths(seed: seed, silences: false)).run()
            #expect(report.violations.isEmpty, "seed \(seed)")
            absences.absences += report.absences
        }
        let shares = [0.5, 0.95, 0.99, 1].map { absences.absence(atShare: $0) }
        print("\(absences.absences.count) encoders were gone for \(shares) s: median, 95th, 99th percentile, longest")
        #expect(absences.absences.count > 100)
        #expect(shares[1] <= 5)
    }

    @Test(arguments: seedsOfDeaths)
    func `nothing is taken from a node that stands still for two seconds, nor while the server is silent for three`(
        seed: UInt64
    ) {
        let report = Simulation(.deaths(seed: seed, silences: true)).run()
        #expect(report.violations.isEmpty, "seed \(seed)")
        #expect(report.takenFromLiving == 0)
        #expect(report.takenFromDead > 0)
    }

    @Test func `a silence of one second would be too short`() {
        var plan = Simulation.Plan.deaths(seed: 1, silences: true)
        plan.deathSilence = .seconds(1)
        #expect(Simulation(plan).run().takenFromLiving > 0)
    }

    @Test func `the same seed tells the same story`() {
        let plan = Simulation.Plan(nodes: 25, encoders: 300, seed: 7)
        let (first, second) = (Simulation(plan).run(), Simulation(plan).run())
        #expect(first == second)
        #expect(first.digest != Simulation(Simulation.Plan(nodes: 25, encoders: 300, seed: 8)).run().digest)
    }
}
