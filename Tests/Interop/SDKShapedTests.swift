import Foundation
import Testing

extension Interop {
    /// The broadcast SDKs run on phones; a client shaped like them stands in.
    @Suite struct SDKShaped {

        @Test(.timeLimit(.minutes(10)))
        func `a network test leaves no participant, and what follows it is a whole publish`() throws {
            let gateway = try Self.tested()
            let stage = try #require(gateway.quickstart.stageArn)
            expect("it is recognised", within: .seconds(60)) { gateway.log.contains("\"rtmp_network_test\"") }
            try expect("nothing is left of it", within: .seconds(60)) { try gateway.stageSessions(stage).isEmpty }
            let encoder = try Encoder.librtmp(.p30, to: gateway.quickstart.publishURL, seconds: 3)
            #expect(encoder.status(within: .seconds(60)) == 0, "\(encoder.output)")
            try expect("the publish is told of", within: .seconds(60)) {
                guard let session = try gateway.stageSessions(stage).first else { return false }
                return try Self.events(gateway, stage, session) == [
                    ["JOINED", "PUBLISH_STARTED", "PUBLISH_STOPPED", "LEFT"]
                ]
            }
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `in the background one group of pictures goes on under sound, and a restart is the same participant`() throws {
            try Self.goToBackground(for: 10)
        }

        /// After four seconds of pictures.
        static func goToBackground(for seconds: Int) throws {
            let gateway = try Gateway()
            let stage = try #require(gateway.quickstart.stageArn)
            let capture = try Capture(gateway.sessionDescription)
            let broadcast = try run("\(4 + seconds)", to: gateway)
            #expect(broadcast.status(within: .seconds(seconds + 120)) == 0, "\(broadcast.output)")
            capture.finish()
            let pictures = try MediaFile.frameDigests(capture.file.path)
            let count = (4 + seconds) * 30
            expect("its end in the log", within: .seconds(60)) { !gateway.logged("rtmp_publish_ended").isEmpty }
            let saidGoodbye = gateway.heardGoodbyes
            #expect(((saidGoodbye ? count - 2 : count / 2)...count).contains(pictures.count), "none is missing but the last ones")
            #expect(Set(pictures.dropFirst(4 * 30)).isSubset(of: pictures[60..<120]), "one group")
            #expect(Set(pictures.prefix(60)).isDisjoint(with: pictures[60..<120]), "the one before it is another")
            #expect(try MediaFile.decodedSounds(capture.file.path) >= (saidGoodbye ? 3 + seconds : (4 + seconds) / 2 - 1) * 49)
            let again = try Encoder.librtmp(.p30, to: gateway.quickstart.publishURL, seconds: 3)
            #expect(again.status(within: .seconds(60)) == 0, "\(again.output)")
            try expect("both are told of", within: .seconds(60)) {
                guard let session = try gateway.stageSessions(stage).first else { return false }
                let once = ["JOINED", "PUBLISH_STARTED", "PUBLISH_STOPPED", "LEFT"]
                return try events(gateway, stage, session) == [once + once]
            }
            gateway.stop()
        }

        /// A gateway at which one network test was, that kept its times: what is late may look like a publish.
        private static func tested() throws -> Gateway {
            for _ in 1...8 {
                let gateway = try Gateway()
                let test = try run("test", to: gateway)
                #expect(test.status(within: .seconds(120)) == 0, "\(test.output)")
                if !test.output.contains("late") { return gateway }
                gateway.stop()
            }
            throw Busy()
        }

        private struct Busy: Error {}

        private static func run(_ what: String, to gateway: Gateway) throws -> ProgramRun {
            let script = Workspace.package.appending(path: "Tests/Interop/Clients/sdk_rtmp.py").path
            return try ProgramRun([WHIP.python, script, what, gateway.quickstart.publishURL])
        }

        /// Of each participant of the session.
        private static func events(_ gateway: Gateway, _ stage: String, _ session: String) throws -> [[String]] {
            let place = ["stageArn": stage, "sessionId": session]
            let found = try gateway.ask("ListParticipants", place)["participants"] as? [[String: Any]] ?? []
            return try found.compactMap { $0["participantId"] as? String }.map { id in
                try gateway.participantEvents(stage, session, id).compactMap { $0["name"] as? String }
            }
        }
    }
}
