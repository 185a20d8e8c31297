import Foundation
import TestSupport
import Testing

/// A TCP way to a port of this machine, which a test may break (Clients/breaking_way.py).
final class BreakingWay {
    let port: Int
    private let run: ProgramRun

    /// - Parameter address: where it listens.
    init(to target: Int, at address: String = "127.0.0.1") throws {
        let script = Workspace.package.appending(path: "Tests/Interop/Clients/breaking_way.py").path
        let run = try ProgramRun(ProgramRun.elsewhere(["/usr/bin/python3", script, "\(target)", address]))
        expect("the way is open", within: .seconds(60)) { run.output.contains("\n") }
        self.run = run
        port = try #require(Int(run.output.prefix { $0.isNumber }))
    }

    /// Ends what is connected by it, at both ends.
    func reset() { run.send(SIGUSR1) }
    func send(_ signal: Int32) { run.send(signal) }
}
