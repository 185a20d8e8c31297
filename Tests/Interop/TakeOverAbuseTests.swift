import Foundation
import Testing

extension Interop {
    /// What is sent to sessions of a process whose place has been taken, and ends nobody's but its sender's.
    @Suite struct TakeOverAbuse {
        @Test(.timeLimit(.minutes(10)))
        func `no request for an old process's session ends another one`() throws {
            let gateway = try Gateway(configuration: "whip: {pendingTimeout: 60s}")
            let clip = try Clip.p30.file()
            let whip = try gateway.whipPublishers(2, clip: clip, seconds: Encoder.untilStopped)
            try expect("live streams", within: .seconds(60)) { try gateway.live() == 2 }
            // A session of quickstart's token, that nobody claims.
            #expect(try WHIPPost.send(to: gateway).hasPrefix("201"))
            expect("its line in the log", within: .seconds(60)) { gateway.count(of: "whip_posted") == 3 }
            let line = try #require(gateway.log.split(separator: "\n").last { $0.contains("\"whip_posted\"") })
            let own = try #require(line.firstMatch(of: /"session":"(n1-0-[0-9a-f]+)"/)).output.1
            let foreign = try #require(gateway.log.firstMatch(of: /"session":"(n1-0-[0-9a-f]+)"/)).output.1
            let token = try #require(gateway.quickstart.whipToken)

            let successor = try Successor(of: gateway)
            try #require(successor.tookOver(within: .seconds(60)), "\(successor.log)\n\(gateway.log.suffix(2_000))")
            func send(_ id: some StringProtocol, _ length: Int, token: String?, method: String = "PATCH") throws -> Int? {
                let body = Workspace.temporaryFile(suffix: ".body")
                try Data(repeating: 0xFF, count: length).write(to: body)
                let bearer = token.map { ["-H", "Authorization: Bearer \($0)"] } ?? []
                let url = try #require(gateway.quickstart.whipURL)
                return Int(
                    try ProgramRun.output(
                        of: [
                            "curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", "--max-time", "50", "-X", method, "-H",
                            "Content-Type: application/trickle-ice-sdpfrag", "--data-binary", "@\(body.path)",
                        ] + bearer + ["\(url)/sessions/\(id)"], within: .seconds(60)))
            }
            for length in [24_576, 65_536] {
                #expect(try send("n1-0-0", length, token: nil) == 401)
                #expect(try send(foreign, length, token: nil) == 401)
                #expect(try send(foreign, length, token: token) == 403, "another one's session")
                #expect(try send(own, length, token: token) == 400, "read by the old process")
            }
            #expect(try send(own, 65_537, token: token) == 413)
            #expect(try send(own, 0, token: token, method: "DELETE") == 200)

            try expect("both are told as live\n\(gateway.signed("v1/overview").prefix(600))", within: .seconds(60)) {
                try gateway.signed("v1/overview").contains("\"liveSessions\":2")
            }
            whip.send(SIGINT)
            let sent = try whip.report(WHIPSent.self, within: .seconds(60))
            #expect(sent.deleted == 2 && sent.endedByServer == 0, "\(whip.lastLine)")
            expect("the old process ends by itself", within: .seconds(60)) { !gateway.isRunning }
            expect("and in order", within: .seconds(60)) { successor.log.contains("\"predecessor_ended\",\"orderly\":true") }
            #expect(!gateway.log.contains("\"handover_rolled_back\"") && !gateway.log.contains("\"abandoned\""))
            successor.stop()
            gateway.stop()
        }
    }
}
