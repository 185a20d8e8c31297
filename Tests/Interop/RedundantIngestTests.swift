import Foundation
import TestSupport
import Testing

extension Interop {
    /// Two real encoders that are one participant to the stage, whichever of them is lost, and how.
    @Suite struct RedundantIngest {
        @Test(.timeLimit(.minutes(20)))
        func `router and viewer see one stream, however often and in whatever way its source is lost`() throws {
            let gaps = try Self.lose(times: 18)
            print("18 switches, nothing came for so many ms at the router: \(gaps.atTurns), at a viewer: \(gaps.atViewer)")
        }

        /// How long nothing came, in milliseconds.
        struct Gaps {
            /// At the router, between the pictures of two encoders.
            var atTurns: [Int] = []
            /// At the router, between any pictures, from 100 on; the last thousand.
            var atRouter: [Int] = []
            /// Between pictures that a viewer decoded, from 100 on.
            var atViewer: [Int] = []
            /// As the gateway tells of its switches, by their reasons.
            var byReason: [String: [Int]] = [:]
        }

        /// Loses the source again and again, by every fault in turn, and brings it back.
        static func lose(times count: Int, clip: Clip = .redundant) throws -> Gaps {
            let router = try StageRouter()
            let stage = try RedundantPair([clip, clip], to: router)
            let viewer = try stage.watch()
            let faults = RedundantPair.Fault.possible
            for round in 0..<count {
                // Encoders take turns: with each time that faults do, the other one meets them.
                let fault = faults[(round + round / faults.count) % faults.count]
                let victim = try stage.change(by: fault)
                try stage.restore(victim, after: fault)
            }
            try repeatUnseen(stage)
            stage.awaitBoth()
            let atViewer = try gaps(of: viewer)
            let seen = try judge(stage, at: router)
            stage.gateway.stop()
            var gaps = Gaps(atTurns: seen.turns ?? [], atRouter: seen.gaps ?? [], atViewer: atViewer)
            for told in stage.switches { gaps.byReason[told.reason, default: []].append(told.gap) }
            return gaps
        }

        /// Faults of a source that a busy machine's standstill has had left sooner, each time.
        private static func repeatUnseen(_ stage: RedundantPair) throws {
            let faults: [(RedundantPair.Fault, String)] = [(.kill, "end"), (.order, "operator"), (.breach, "breach")]
            for (fault, reason) in faults {
                for _ in 0..<5 where !stage.switches.contains(where: { $0.reason == reason }) {
                    try stage.restore(stage.change(by: fault), after: fault)
                }
            }
        }

        /// One stream without a loss, of one encoder's pictures at a time: it changes as often as the gateway says.
        private static func judge(_ stage: RedundantPair, at router: StageRouter) throws -> StageRouter.Participant {
            let metrics = try stage.gateway.metrics()
            for reason in ["end", "stall", "operator", "breach"] {
                #expect(metrics.sum("stagedoor_redundant_switches_total", "reason=\"\(reason)\"") > 0, "\(reason)")
            }
            let switches = try #require(try stage.status?.switches)
            #expect(Int(metrics.sum("stagedoor_redundant_switches_total")) == switches)
            let seen = try router.only(stage.joined)
            #expect(seen.tracks.count == 2 && seen.tracks.allSatisfy(\.isWhole), "\(seen)")
            #expect(seen.foreign == 0 && seen.backwards == 0 && !seen.saidBye, "\(seen)")
            // Who is left again before the first of its pictures was sent is told of as well.
            #expect(seen.turns.map { (1...max(1, switches)).contains($0.count) } == true, "\(switches) switches\n\(seen)")
            return seen
        }

        /// Ends a viewer, whom no time jumped back for.
        private static func gaps(of viewer: ProgramRun) throws -> [Int] {
            #expect(viewer.interrupt(within: .seconds(120)) == 0, "\(viewer.output)")
            let decoded = try #require(viewer.output.firstMatch(of: /decoded 0 pictures (\d+).* back (\d+)/), "\(viewer.output)")
            #expect(Int(decoded.1) ?? 0 > 60 && decoded.2 == "0", "\(viewer.output)")
            #expect(viewer.output.matches(of: /POST/).count == 1, "one session\n\(viewer.output)")
            let gaps = try #require(viewer.output.firstMatch(of: /gaps 0((?: \d+)*)/), "\(viewer.output)")
            return gaps.1.split(separator: " ").compactMap { Int($0) }
        }

        @Test(.timeLimit(.minutes(10)))
        func `each encoder that breaks the contract is told in words, and the other one goes on`() throws {
            let router = try StageRouter()
            let stage = try RedundantPair(to: router)
            for _ in 0..<2 {
                let victim = try stage.change(by: .breach)
                let participant = stage.participants[victim - 1]
                expect("its connection ends", within: .seconds(60)) { stage.encoders[victim]?.isRunning == false }
                let told = stage.encoders[victim]?.output ?? ""
                #expect(told.contains("SD-1042"), "\(told)")
                let events = try stage.gateway.events(of: participant) { $0.contains { $0.error != nil } }
                #expect(events.contains { $0.error == "B_FRAME_PRESENT" }, "\(events)")
                try stage.restore(victim, after: .breach)
            }
            stage.awaitBoth()
            let seen = try router.only(stage.joined)
            #expect(seen.tracks.allSatisfy(\.isWhole) && seen.foreign == 0 && seen.backwards == 0, "\(seen)")
            stage.gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `both lost and one back is the same participant, and the stage's events are one publish`() throws {
            let router = try StageRouter()
            let stage = try RedundantPair(to: router)
            stage.awaitBoth()
            let generation = try router.only(stage.joined).generation
            for number in [1, 2] { stage.encoders[number]?.kill() }
            try expect("both are gone", within: .seconds(60)) { try stage.status?.encoders.isEmpty != false }
            try stage.begin(2)
            expect("one is back\n\(stage.logTail)", within: .seconds(60)) { (try? stage.source) == 2 }
            // Whoever needs longer than ten seconds, on a machine with more to do, is another publish.
            if !stage.gateway.logged("session_ended").contains(where: { $0.participant == stage.joined }) {
                let seen = try router.only(stage.joined)
                #expect(seen.generation == generation && seen.tracks.allSatisfy(\.isWhole) && seen.backwards == 0, "\(seen)")
            }
            stage.encoders[2]?.interrupt()
            let events = try stage.gateway.events(of: stage.joined) { $0.last?.name == "Participant Unpublished" }
            #expect(events.first?.name == "Participant Published", "\(events)")
            for encoder in stage.participants {
                let own = try stage.gateway.events(of: encoder) { $0.last?.name == "Participant Unpublished" }
                #expect(own.first?.name == "Participant Published", "\(own)")
            }
            stage.gateway.stop()
        }
    }
}

extension UnderLoad {
    @Suite struct RedundantFaults {
        /// Who stands still is left after half a second; whoever else is lost costs what its group of pictures costs to send.
        @Test(.timeLimit(.minutes(60)), arguments: [(Clip.full, 60), (.redundant, 200)])
        func `hundreds of losses of the source leave no gap of more than half a second and a little`(
            clip: Clip, count: Int
        ) throws {
            let gaps = try Interop.RedundantIngest.lose(times: count, clip: clip)
            print("\(clip.name), \(count) switches; from 100 ms on at the router: \(gaps.atRouter.sorted())")
            print("from 100 ms on at a viewer: \(gaps.atViewer.sorted())")
            print("at the router's turns: p50 \(Self.share(0.5, of: gaps.atTurns)), p95 \(Self.share(0.95, of: gaps.atTurns)) ms")
            for (reason, all) in gaps.byReason.sorted(by: { $0.key < $1.key }) {
                print("\(reason): \(all.count), gap p50 \(Self.share(0.5, of: all)), p95 \(Self.share(0.95, of: all)) ms")
            }
            let noticedAtOnce = ["end", "operator", "breach"].flatMap { gaps.byReason[$0] ?? [] }
            #expect(Self.share(0.95, of: noticedAtOnce) <= 300)
            #expect(gaps.atRouter.max() ?? 0 <= 800)
            // Its socket and its decoder keep up with what was kept: nothing is added.
            #expect(gaps.atViewer.max() ?? 0 <= 800)
        }

        /// A standstill is found, and media comes, in time for what has no common clock to be placed where the former ended.
        @Test(.timeLimit(.minutes(20)))
        func `sound has no gap, whichever way its source was lost`() throws {
            let media = try CountedMedia(Interop.RedundantMedia.received(through: RedundantPair.Fault.possible))
            let gaps = media.soundGaps(beyond: 0.001)
            #expect(gaps.isEmpty, "\(gaps)")
        }

        private static func share(_ share: Double, of values: [Int]) -> Int {
            values.isEmpty ? 0 : values.sorted()[min(values.count - 1, Int(share * Double(values.count)))]
        }
    }
}
