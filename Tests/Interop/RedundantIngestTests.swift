import Foundation
import TestSupport
import Testing

extension Interop {
    /// Two real encoders that are one participant to the stage, whichever of them is lost, and how.
    @Suite struct RedundantIngest {
        /// Good for fifteen seconds, then with B-frames.
        private static let breach = ContractClip(
            "good, then B-frames",
            ContractClip.picture("320x180") + ContractClip.sound() + ContractClip.baseline + ContractClip.aac + ["-t", "15"],
            ContractClip.picture("320x180") + ContractClip.sound() + ContractClip.x264(["-profile:v", "main", "-bf", "2"])
                + ContractClip.aac + ["-t", "5"]
        ) { $0.seconds = 20 }

        @Test(.timeLimit(.minutes(10)))
        func `the stage sees one stream, however often and in whatever way its source is lost`() throws {
            print("20 switches, gaps between pictures at the router in ms: \(try Self.lose(times: 20).atRouter)")
        }

        /// How long nothing came, in milliseconds.
        struct Gaps {
            /// Between pictures, from 100 on; the last thousand.
            var atRouter: [Int] = []
            /// As the gateway tells of its switches, by their reasons.
            var byReason: [String: [Int]] = [:]
        }

        /// Loses the source again and again, by every fault in turn, and brings it back.
        static func lose(times count: Int, clip: Clip = .redundant) throws -> Gaps {
            let router = try StageRouter()
            let stage = try RedundantPair([clip, clip], to: router)
            for round in 0..<count {
                let fault = RedundantPair.Fault.allCases[round % RedundantPair.Fault.allCases.count]
                let victim = try stage.change(by: fault)
                try stage.restore(victim, after: fault)
            }
            stage.awaitBoth()
            let seen = try router.only(stage.joined)
            #expect(seen.tracks.count == 2 && seen.tracks.allSatisfy(\.isWhole), "\(seen)")
            #expect(seen.foreign == 0 && seen.backwards == 0 && !seen.saidBye, "\(seen)")
            let metrics = try stage.gateway.metrics()
            for reason in ["end", "stall", "operator"] {
                #expect(metrics.sum("stagedoor_redundant_switches_total", "reason=\"\(reason)\"") > 0, "\(reason)")
            }
            stage.gateway.stop()
            var gaps = Gaps(atRouter: seen.gaps ?? [])
            for line in stage.gateway.log.matches(of: /"redundant_source".*"reason":"(\w+)".*"gap_ms":(\d+)/) {
                gaps.byReason[String(line.1), default: []].append(Int(line.2) ?? 0)
            }
            return gaps
        }

        @Test(.timeLimit(.minutes(10)))
        func `who breaks the contract is told in words, and the other one goes on`() throws {
            let router = try StageRouter()
            let stage = try RedundantPair(to: router)
            stage.awaitBoth()
            // Whoever needs longer to become the source than it is good, on a busy machine, begins again.
            for _ in 0..<4 where !stage.hasBreach {
                stage.encoders[2]?.kill()
                let run = try ProgramRun([
                    "ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-v", "warning", "-re", "-i", try Self.breach.file().path,
                    "-c", "copy", "-f", "flv", stage.url(2),
                ])
                stage.encoders[2] = run
                _ = try holds(within: .seconds(60)) {
                    guard run.isRunning, try stage.source == 1 else { return true }
                    try stage.lose(1, by: .order)
                    return false
                }
                expect("it breaks the contract\n\(stage.logTail)", within: .seconds(60)) { !run.isRunning }
            }
            try expect("the other one goes on\n\(stage.logTail)", within: .seconds(60)) { try stage.source == 1 }
            #expect(stage.gateway.log.contains("B_FRAME") || stage.gateway.log.contains("b_frame"), "\(stage.logTail)")
            #expect(stage.hasBreach, "\(stage.logTail)")
            let seen = try router.only(stage.joined)
            #expect(seen.tracks.allSatisfy(\.isWhole) && seen.foreign == 0 && seen.backwards == 0, "\(seen)")
            stage.gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a viewer by WHEP goes on through every switch`() throws {
            let stage = try RedundantPair()
            stage.awaitBoth()
            let viewer = try stage.watch(seconds: 12)
            expect("it watches\n\(viewer.output)", within: .seconds(60)) { viewer.output.contains("first picture") }
            for _ in 0..<2 {
                let victim = try stage.change(by: .kill)
                try stage.restore(victim, after: .kill)
            }
            #expect(viewer.status(within: .seconds(120)) == 0, "\(viewer.output)")
            let decoded = try #require(viewer.output.firstMatch(of: /decoded 0 pictures (\d+).* back (\d+)/), "\(viewer.output)")
            #expect(Int(decoded.1) ?? 0 > 60 && decoded.2 == "0", "\(viewer.output)")
            #expect(viewer.output.matches(of: /POST/).count == 1, "one session\n\(viewer.output)")
            stage.gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `both lost and one back is the same participant, and the stage's events are one publish`() throws {
            let router = try StageRouter()
            let stage = try RedundantPair(to: router)
            stage.awaitBoth()
            let generation = try router.only(stage.joined).generation
            let lost = ContinuousClock.now
            for number in [1, 2] { stage.encoders[number]?.kill() }
            try expect("both are gone", within: .seconds(60)) { try stage.status?.encoders.isEmpty != false }
            try stage.begin(2)
            expect("one is back\n\(stage.logTail)", within: .seconds(60)) { (try? stage.source) == 2 }
            // Whoever needs longer than ten seconds, on a machine with more to do, is another publish.
            if lost.duration(to: .now) < .seconds(9) {
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
        @Test(.timeLimit(.minutes(60)), arguments: [(Clip.redundant, 200), (.full, 60)])
        func `hundreds of losses of the source leave no gap of more than half a second and a little`(
            clip: Clip, count: Int
        ) throws {
            let gaps = try Interop.RedundantIngest.lose(times: count, clip: clip)
            print("\(clip.name), \(count) switches; from 100 ms on at the router: \(gaps.atRouter.sorted())")
            for (reason, all) in gaps.byReason.sorted(by: { $0.key < $1.key }) {
                print("\(reason): \(all.count), gap p50 \(Self.share(0.5, of: all)), p95 \(Self.share(0.95, of: all)) ms")
            }
            let noticedAtOnce = gaps.byReason.filter { $0.key == "end" || $0.key == "operator" }.flatMap(\.value)
            #expect(Self.share(0.95, of: noticedAtOnce) <= 300)
            #expect(gaps.atRouter.max() ?? 0 <= 800)
        }

        private static func share(_ share: Double, of values: [Int]) -> Int {
            values.isEmpty ? 0 : values.sorted()[min(values.count - 1, Int(share * Double(values.count)))]
        }
    }
}
