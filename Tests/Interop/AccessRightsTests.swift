import Foundation
import Testing

extension Interop {
    /// Access keys that may do less than everything, before the clients that use them.
    @Suite struct AccessRights {
        @Test(.timeLimit(.minutes(10)))
        func `a key for one action on one stage may do that, and nothing else by any way`() throws {
            let key = (id: "AKIAAPPLICATION", secret: "mints-tokens-and-nothing-else")
            // The stage is known once the gateway has made it.
            let before = "accessKeys: {application: {id: \(key.id), secret: \(key.secret), allow: []}}"
            let gateway = try Gateway(configuration: before)
            let stage = try #require(gateway.quickstart.stageArn)
            try gateway.change(
                before,
                to: "accessKeys: {application: {id: \(key.id), secret: \(key.secret), allow: [ivs:CreateParticipantToken], "
                    + "resources: ['\(stage)']}}")
            expect("the reload", within: .seconds(60)) { gateway.log.contains("accessKeys.application.resources") }
            let client = try ProgramRun(
                [
                    "env", ControlAPI.path, "python3",
                    Workspace.package.appending(path: "Tests/Interop/Clients/access_rights.py").path,
                ]
                    + [try #require(gateway.quickstart.adminURL), key.id, key.secret]
                    + [try #require(gateway.quickstart.accessKeyId), try #require(gateway.quickstart.secretAccessKey), stage])
            #expect(client.status(within: .browserScript) == 0, "\(client.output)\n\(gateway.log.suffix(4_000))")
            gateway.stop()
        }
    }
}
