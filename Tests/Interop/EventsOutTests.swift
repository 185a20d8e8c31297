import Foundation
import Testing

extension Interop {
    /// What an application hears of a publish, and says to it.
    @Suite struct EventsOut {
        @Test(.timeLimit(.minutes(10)))
        func `a webhook is repeated until it is taken, and another authority may refuse`() throws {
            let closed = Workspace.temporaryFile(suffix: ".closed")
            let script = Workspace.package.appending(path: "Tests/Interop/Clients/receiver.py").path
            let receiver = try ProgramRun(["python3", script, closed.path])
            expect("the receiver has a port", within: .seconds(60)) { receiver.output.contains("\n") }
            let port = receiver.output.prefix { $0 != "\n" }
            let gateway = try Gateway(
                configuration: """
                    authorize: {url: "http://127.0.0.1:\(port)/authorize", timeout: 10s}
                    webhooks:
                      application: {url: "http://127.0.0.1:\(port)/hook", secret: "webhook-secret", timeout: 1m}
                    """)
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: 4)
            #expect(encoder.status(within: .seconds(60)) == 0, "\(encoder.output)")
            try expect("both events are taken", within: .seconds(60)) { try Self.hooks(receiver).count { $0.status == 200 } == 2 }
            let hooks = try Self.hooks(receiver)
            #expect(hooks.map(\.name) == ["Participant Published", "Participant Published", "Participant Unpublished"])
            #expect(hooks.map(\.status) == [500, 200, 200])
            #expect(hooks.map(\.identifier)[0] == hooks.map(\.identifier)[1], "a repetition has the same id")
            #expect(hooks.map(\.isSigned) == [true, true, true])
            try Data().write(to: closed)
            let refused = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL)
            #expect(refused.status(within: .seconds(60)) != 0)
            #expect(refused.output.contains("closed today"), "\(refused.output)")
            gateway.stop()
        }

        private struct Hook {
            var status: Int
            var isSigned: Bool
            var identifier: String
            var name: String
        }

        private static func hooks(_ receiver: ProgramRun) throws -> [Hook] {
            receiver.output.split(separator: "\n").compactMap { line in
                guard let json = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                    json["path"] as? String == "/hook", let body = json["body"] as? [String: Any],
                    let detail = body["detail"] as? [String: Any]
                else { return nil }
                return Hook(
                    status: json["status"] as? Int ?? 0, isSigned: json["signed"] as? Bool ?? false,
                    identifier: body["id"] as? String ?? "", name: detail["event_name"] as? String ?? "")
            }
        }
    }
}
