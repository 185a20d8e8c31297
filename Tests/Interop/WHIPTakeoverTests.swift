import Foundation
import Testing

extension Interop {
    /// One token, two encoders: the newest wins (docs/design.md 7.3).
    @Suite struct WHIPTakeover {
        /// Make before break: the first one forwards until the second's DTLS is done, and the router sees a higher generation of
        /// the same participant, never its end.
        @Test(.timeLimit(.minutes(10)))
        func `a second encoder takes over, and the router sees a generation, not an end`() throws {
            let router = try ProgramRun(ProgramRun.elsewhere([WHIPClient.python, WHIPClient.script("recording_router.py")]))
            expect("the router's port", within: .seconds(60)) { router.output.contains("\n") }
            let port = try #require(router.output.split(separator: "\n").first.flatMap { UInt16($0) })
            let gateway = try Gateway(routers: "  stage: {driver: announce, url: \"http://127.0.0.1:\(port)\"}")
            let first = try WHIPClient.aiortc(gateway, seconds: Encoder.untilStopped)
            expect("the first is live", within: .seconds(60)) { Told.list(router).contains { $0.method == "POST" } }
            // A POST alone takes nothing: this client never gets through.
            let stray = try WHIPClient.aiortc(gateway, seconds: 2, environment: ["WRONG=password"])
            #expect(stray.status(within: .seconds(60)) != nil)
            #expect(first.isRunning && !first.output.contains("state closed"))
            #expect(Told.list(router).map(\.method).filter { $0 != "PATCH" } == ["POST"])
            try Self.expectMedia(of: router, at: port, gateway)
            let second = try WHIPClient.aiortc(gateway, seconds: Encoder.untilStopped)
            expect("the first is closed by DTLS", within: .seconds(60)) { first.output.contains("state closed") }
            expect("a second announce", within: .seconds(60)) { Told.list(router).filter { $0.method == "POST" }.count == 2 }
            try Self.expectMedia(of: router, at: port, gateway)
            #expect(second.isRunning)
            #expect(Told.list(router).allSatisfy { $0.method != "DELETE" }, "\(router.output)")
            second.send(SIGUSR2)
            #expect(second.status(within: .seconds(60)) == 0, "\(second.output)")
            expect("the end is told", within: .seconds(60)) { Told.list(router).last?.method == "DELETE" }
            try check(Told.list(router), gateway)
            first.kill()
            gateway.stop()
            router.interrupt()
        }

        /// The router has enough of the newest generation for what is asked of it when another one follows.
        private static func expectMedia(of router: ProgramRun, at port: UInt16, _ gateway: Gateway) throws {
            struct Participant: Decodable {
                struct Track: Decodable { var packets: Int }
                var generation: UInt64
                var tracks: [Track]
            }
            let newest = try #require(Told.list(router).last { $0.method == "POST" }).generation
            let line = ["curl", "-sS", "--max-time", "50", "http://127.0.0.1:\(port)/"]
            expect("media of \(newest) comes\n\(router.output)\n\(gateway.log.suffix(4_000))", within: .seconds(60)) {
                let told = (try? ProgramRun.output(of: line, within: .seconds(60))) ?? ""
                let seen = try? JSONDecoder().decode([String: Participant].self, from: Data(told.utf8)).values.first
                return seen?.generation == newest && (seen?.tracks ?? []).reduce(0) { $0 + $1.packets } > 100
            }
        }

        private func check(_ told: [Told], _ gateway: Gateway) throws {
            let posts = told.filter { $0.method == "POST" }
            #expect(Set(told.map(\.participantId)) == [gateway.quickstart.whipParticipantId])
            #expect(posts.count == 2 && posts[0].generation < posts[1].generation)
            #expect(posts[1].packets > 100, "the first generation's media came until then")
            #expect(
                told.last.map { $0.generation == posts[1].generation && $0.packets > 100 } == true, "and the second's after it")
            let verdicts = try gateway.endedSessions().compactMap(\.story.verdict)
            #expect(verdicts.contains { $0.contains("took over") })
            #expect(try gateway.admin("metrics").contains("stagedoor_sessions{protocol=\"whip\",state=\"live\"} 0"))
        }

        private struct Told: Decodable {
            var method: String
            var participantId: String
            var generation: UInt64
            var packets: Int

            static func list(_ router: ProgramRun) -> [Told] {
                router.output.split(separator: "\n").compactMap { try? JSONDecoder().decode(Told.self, from: Data($0.utf8)) }
            }
        }
    }
}
