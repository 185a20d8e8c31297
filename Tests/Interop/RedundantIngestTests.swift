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

        private enum Fault: CaseIterable { case kill, stop, reset, order }

        @Test(.timeLimit(.minutes(10)))
        func `the stage sees one stream, however often and in whatever way its source is lost`() throws {
            print("20 switches, gaps between pictures at the router in ms: \(try Self.lose(times: 20))")
        }

        /// Loses the source again and again, by every fault in turn, and brings it back.
        /// - Returns: the gaps between pictures at the router, in milliseconds, from 100 on; the last thousand.
        static func lose(times count: Int) throws -> [Int] {
            let stage = try Pair()
            for round in 0..<count {
                let fault = Fault.allCases[round % Fault.allCases.count]
                stage.awaitBoth()
                let victim = try #require(try stage.source)
                try stage.lose(victim, by: fault)
                try expect("the other one is the source after \(fault)\n\(stage.logTail)", within: .seconds(60)) {
                    if try stage.source == 3 - victim { return true }
                    // Refused while the other one is late, as on a busy machine.
                    if fault == .order { try stage.lose(victim, by: fault) }
                    return false
                }
                try stage.restore(victim, after: fault)
            }
            stage.awaitBoth()
            let seen = try stage.seen()
            #expect(seen.tracks.count == 2 && seen.tracks.allSatisfy(\.isWhole), "\(seen)")
            #expect(seen.foreign == 0 && seen.backwards == 0 && !seen.saidBye, "\(seen)")
            let metrics = try stage.gateway.metrics()
            for reason in ["end", "stall", "operator"] {
                #expect(metrics.sum("stagedoor_redundant_switches_total", "reason=\"\(reason)\"") > 0, "\(reason)")
            }
            stage.gateway.stop()
            return seen.gaps ?? []
        }

        @Test(.timeLimit(.minutes(10)))
        func `who breaks the contract is told in words, and the other one goes on`() throws {
            let stage = try Pair()
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
            let seen = try stage.seen()
            #expect(seen.tracks.allSatisfy(\.isWhole) && seen.foreign == 0 && seen.backwards == 0, "\(seen)")
            stage.gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a viewer by WHEP goes on through every switch`() throws {
            let stage = try Pair()
            stage.awaitBoth()
            let viewer = try stage.watch(seconds: 12)
            expect("it watches\n\(viewer.output)", within: .seconds(60)) { viewer.output.contains("first picture") }
            for _ in 0..<2 {
                stage.awaitBoth()
                let victim = try #require(try stage.source)
                try stage.lose(victim, by: .kill)
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
            let stage = try Pair()
            stage.awaitBoth()
            let generation = try stage.seen().generation
            let lost = ContinuousClock.now
            for number in [1, 2] { stage.encoders[number]?.kill() }
            try expect("both are gone", within: .seconds(60)) { try stage.status?.encoders.isEmpty != false }
            try stage.begin(2)
            expect("one is back\n\(stage.logTail)", within: .seconds(60)) { (try? stage.source) == 2 }
            // Whoever needs longer than ten seconds, on a machine with more to do, is another publish.
            if lost.duration(to: .now) < .seconds(9) {
                let seen = try stage.seen()
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

        /// A stage with two encoders, each behind a way of its own that may break.
        private final class Pair {
            let gateway: Gateway
            let joined: String
            /// Of the encoders themselves.
            let participants: [String]
            var encoders: [Int: ProgramRun] = [:]
            private let router: StageRouter
            private let keys: [String]
            private var ways: [Int: ProgramRun] = [:]

            init() throws {
                let router = try StageRouter()
                let gateway = try Gateway(routers: router.settings("a") + "  embedded: {driver: embedded}\n")
                let made = try gateway.makeRedundantConfiguration()
                (self.gateway, self.router, joined) = (gateway, router, made.participantId)
                keys = [made.streamKey(1), made.streamKey(2)]
                participants = made.redundantIngestCredentials.map(\.participantId)
                for number in [1, 2] {
                    ways[number] = try way()
                    try begin(number)
                }
            }

            /// A TCP way to the gateway; prints its port.
            private func way() throws -> ProgramRun {
                let port = try #require(URLComponents(string: gateway.quickstart.rtmpURL)?.port)
                let script = Workspace.package.appending(path: "Tests/Interop/Clients/breaking_way.py").path
                let way = try ProgramRun(["/usr/bin/python3", script, "\(port)"])
                expect("the way is open", within: .seconds(60)) { way.output.contains("\n") }
                return way
            }

            func url(_ number: Int) -> String {
                let port = ways[number]?.output.prefix { $0.isNumber } ?? ""
                return "rtmp://127.0.0.1:\(port)/app/\(keys[number - 1])"
            }

            func begin(_ number: Int) throws {
                encoders[number] = try Encoder.ffmpeg(.redundant, to: url(number), seconds: Encoder.untilStopped)
            }

            var status: RedundantStatus? { get throws { try gateway.redundancy(of: joined) } }
            var source: Int? { get throws { try status?.source } }
            var hasBreach: Bool { gateway.log.contains("\"reason\":\"breach\"") }
            var logTail: String { String(gateway.log.suffix(4_000)) }

            /// Both bring media, one of them to the stage, and the other one may go on at any moment.
            func awaitBoth() {
                expect("both bring media\n\(logTail)", within: .seconds(120)) {
                    guard let status = try? status, status.source != nil, status.encoders.count == 2 else { return false }
                    return status.encoders.allSatisfy { $0.ready && $0.health == "well" }
                }
            }

            func lose(_ number: Int, by fault: Fault) throws {
                switch fault {
                case .kill: encoders[number]?.kill()
                case .stop: encoders[number]?.send(SIGSTOP)
                case .reset: ways[number]?.send(SIGUSR1)
                case .order:
                    let body = ["-H", "Content-Type: application/json", "--data", "{\"encoder\":\(3 - number)}"]
                    _ = try gateway.signed("v1/participants/\(joined)/source", body)
                }
            }

            func restore(_ number: Int, after fault: Fault) throws {
                switch fault {
                case .kill, .reset:
                    encoders[number]?.kill()
                    try begin(number)
                case .stop: encoders[number]?.send(SIGCONT)
                case .order: break
                }
            }

            /// A viewer of the participant that the two are.
            func watch(seconds: Int) throws -> ProgramRun {
                let script = Workspace.package.appending(path: "Tests/Interop/Clients/aiortc_whep.py").path
                let url = try #require(gateway.quickstart.whipURL).replacing(
                    /\/whip$/, with: "/whep/\(try #require(gateway.quickstart.stageId))/\(joined)")
                return try ProgramRun([
                    "env", "PICTURE=1", WHIP.python, script, "\(seconds)", try #require(gateway.quickstart.whipToken), url,
                ])
            }

            /// What the router has of the participant that the two are.
            func seen() throws -> StageRouter.Participant {
                var seen: StageRouter.Participant?
                try expect("the router has it, and nobody else", within: .seconds(60)) {
                    let participants = try router.participants()
                    seen = participants[joined]
                    return seen?.pictures ?? 0 > 0 && participants.count == 1
                }
                return try #require(seen)
            }
        }
    }
}

extension UnderLoad {
    @Suite struct RedundantFaults {
        /// Who stands still is left after half a second; whoever else is lost costs what its keyframe costs to send.
        @Test(.timeLimit(.minutes(60)))
        func `two hundred losses of the source leave no gap of more than half a second and a little`() throws {
            let gaps = try Interop.RedundantIngest.lose(times: 200).sorted()
            print("200 switches, gaps from 100 ms on: \(gaps.count), p95 \(gaps.dropLast(gaps.count / 20).last ?? 0) ms, \(gaps)")
            #expect(gaps.last ?? 0 <= 800)
        }
    }
}
