import Foundation
import Testing

extension Interop {
    /// What a viewer loses when its right is taken away, with aiortc as the viewer and the AWS CLI as the operator.
    @Suite struct Revocation {
        /// A participant who may only watch.
        private struct Viewer: Decodable {
            struct Token: Decodable {
                var participantId: String
                var token: String
            }
            var participantToken: Token

            static func make(_ gateway: Gateway) throws -> Token {
                let stage = try #require(gateway.quickstart.stageArn)
                let made = try gateway.aws("create-participant-token", ["--stage-arn", stage, "--capabilities", "SUBSCRIBE"])
                return try JSONDecoder().decode(Viewer.self, from: Data(made.utf8)).participantToken
            }
        }

        /// One who watches by WHEP and has the page's events open.
        private struct Watching {
            let whep: ProgramRun
            let events: ProgramRun

            init(_ gateway: Gateway, _ token: String) throws {
                whep = try ProgramRun([
                    WHIP.python, WHIP.script("aiortc_whep.py"), "\(Encoder.untilStopped)", token,
                    try gateway.whepURL(gateway.quickstart.participantId),
                ])
                let stage = try #require(gateway.quickstart.stageId)
                let page = try #require(gateway.quickstart.whipURL).replacing(/\/whip$/, with: "/watch/\(stage)/events")
                events = try ProgramRun(["curl", "-sSN", "-H", "Authorization: Bearer \(token)", page])
                let (whep, events) = (whep, events)
                expect("it sees", within: .seconds(180)) { whep.output.contains("first picture") }
                expect("it is told", within: .seconds(180)) { events.output.contains("event: present") }
            }

            func expectEnd(_ code: String) {
                expect("the picture ends", within: .seconds(240)) { whep.output.contains("state 0 closed") }
                expect("the events end with the reason", within: .seconds(180)) { !events.isRunning }
                #expect(events.output.contains("event: refused") && events.output.contains(code), "\(events.output)")
            }

            func kill() {
                whep.kill()
                events.kill()
            }
        }

        @Test(.timeLimit(.minutes(10)))
        func `a participant that only watches is disconnected, and its token is refused from then on`() throws {
            let gateway = try Gateway()
            let encoder = try Encoder.ffmpeg(.long, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            expect("it publishes", within: .seconds(180)) { gateway.log.contains("rtmp_publish_granted") }
            let (viewer, other) = (try Viewer.make(gateway), try Viewer.make(gateway))
            let watching = try Watching(gateway, viewer.token)
            let staying = try Watching(gateway, other.token)
            let stage = try #require(gateway.quickstart.stageArn)
            _ = try gateway.aws("disconnect-participant", ["--stage-arn", stage, "--participant-id", viewer.participantId])
            watching.expectEnd("SD-1007")
            let again = try ProgramRun([
                WHIP.python, Workspace.package.appending(path: "Tests/Interop/Clients/aiortc_whep.py").path, "0", viewer.token,
                try gateway.whepURL(gateway.quickstart.participantId),
            ])
            _ = again.status(within: .seconds(240))
            #expect(again.output.contains("POST 0 403") && again.output.contains("SD-1007"), "\(again.output)")
            #expect(encoder.isRunning && staying.events.isRunning && !staying.whep.output.contains("closed"))
            _ = try gateway.aws("delete-stage", ["--arn", stage])
            staying.expectEnd("SD-1008")
            for run in [watching, staying] { run.kill() }
            encoder.kill()
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a viewer is disconnected through another node`() throws {
            let platform = try Platform(2)
            let (node, other) = (platform.nodes[0], platform.nodes[1])
            let encoder = try Encoder.ffmpeg(.long, to: node.quickstart.publishURL, seconds: Encoder.untilStopped)
            expect("it publishes", within: .seconds(180)) { node.log.contains("rtmp_publish_granted") }
            let viewer = try Viewer.make(node)
            let watching = try Watching(node, viewer.token)
            let stage = try #require(node.quickstart.stageArn)
            // The other node learns by heartbeat who watches here.
            expect("it is found", within: .seconds(180)) {
                (try? other.aws("disconnect-participant", ["--stage-arn", stage, "--participant-id", viewer.participantId]))
                    != nil
            }
            watching.expectEnd("SD-1007")
            #expect(encoder.isRunning)
            watching.kill()
            encoder.kill()
            platform.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `one token has its share of places, and its newest displaces its oldest that is not connected`() throws {
            let gateway = try Gateway()
            let encoder = try Encoder.ffmpeg(.long, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            expect("it publishes", within: .seconds(180)) { gateway.log.contains("rtmp_publish_granted") }
            let url = try gateway.whepURL(gateway.quickstart.participantId)
            let script = Workspace.package.appending(path: "Tests/Interop/Clients/aiortc_whep.py").path
            let greedy = try ProgramRun([
                "env", "PLACES=120", "KEEP=1", WHIP.python, script, "0", try #require(gateway.quickstart.whipToken), url,
            ])
            #expect(greedy.status(within: .seconds(240)) == 0, "\(greedy.output)")
            #expect(greedy.output.contains("first created 120"), "\(greedy.output)")
            #expect(try gateway.metrics().sum("stagedoor_whep_subscribers") <= 16)
            let viewer = try ProgramRun([WHIP.python, script, "\(Encoder.untilStopped)", try Viewer.make(gateway).token, url])
            expect("another's viewer sees", within: .seconds(180)) { viewer.output.contains("first picture") }
            viewer.kill()
            encoder.kill()
            gateway.stop()
        }
    }
}
