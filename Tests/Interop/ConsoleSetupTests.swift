import Foundation
import Testing

extension Interop {
    /// What the AWS CLI sets up, set up by somebody who has a browser alone.
    @Suite struct ConsoleSetsUp {
        /// Sign in, stage, stream key, ffmpeg by the copied line, watched; cut off; by the browser's link, watched; all deleted.
        @Test(.timeLimit(.minutes(10)))
        func `a person gets from an empty platform to a watched stream without a terminal`() throws {
            let gateway = try Gateway()
            let key = try #require(gateway.quickstart.secretAccessKey)
            #expect(gateway.quickstart.consoleURL == gateway.quickstart.adminURL.map { $0 + "/" })
            let walk = try Self.run("console_walk.py", gateway, [try #require(gateway.quickstart.accessKeyId), key])
            #expect(walk.status(within: .browserScript) == 0, "\(walk.output)\n\(gateway.log.suffix(4_000))")
            #expect(!walk.output.contains("rt_"), "no stream key is told")
            gateway.stop()
        }

        /// Phone and desktop, light and dark, names of all controls, readable colours; and a key that may only look.
        @Test(.timeLimit(.minutes(10)))
        func `it suits phones, the dark, keyboards, screen readers and who may only look`() throws {
            let gateway = try Gateway(
                configuration: "accessKeys: {viewer: {id: \(Self.viewer.id), secret: \(Self.viewer.secret), readOnly: true}}")
            let key = try #require(gateway.quickstart.secretAccessKey)
            let looks = try Self.run(
                "console_looks.py", gateway,
                [try #require(gateway.quickstart.accessKeyId), key, Self.viewer.id, Self.viewer.secret])
            #expect(looks.status(within: .browserScript) == 0, "\(looks.output)\n\(gateway.log.suffix(4_000))")
            gateway.stop()
        }

        /// Each version from 1 to 40 as full as it gets, and one more byte, read by ZBar.
        @Test(.timeLimit(.minutes(10)))
        func `its QR codes are read, whatever their size`() throws {
            let gateway = try Gateway()
            let codes = try Self.run("console_codes.py", gateway, [])
            #expect(codes.status(within: .browserScript) == 0, "\(codes.output)")
            gateway.stop()
        }

        private static let viewer = (id: "AKIAVIEWER", secret: "only-looks-and-touches-nothing")

        private static func run(_ client: String, _ gateway: Gateway, _ arguments: [String]) throws -> ProgramRun {
            let folder = Workspace.package.appending(path: "artifacts")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            let script = Workspace.package.appending(path: "Tests/Interop/Clients/\(client)").path
            return try ProgramRun(
                ["/usr/bin/python3", script, try #require(gateway.quickstart.adminURL)] + arguments + [folder.path])
        }
    }
}
