import Foundation
import TestSupport
import Testing

extension Interop {
    /// The first process of a container, from which the kernel keeps signals that it has not asked for.
    @Suite(.enabled(if: Privileges.mounts, "makes a namespace of processes, which needs root"))
    struct FirstProcess {
        /// Its configuration is a pipe into which nobody writes: so long does the start take.
        @Test(.timeLimit(.minutes(10)), arguments: [SIGTERM, SIGINT])
        func `is ended by a signal that comes while it starts`(_ number: Int32) throws {
            let configuration = Workspace.temporaryFile(suffix: ".yaml").path
            try #require(mkfifo(configuration, 0o600) == 0)
            let run = try ProgramRun([
                "unshare", "--pid", "--fork", "--kill-child", try Workspace.program("stagedoor"), "serve", "--config",
                configuration,
            ])
            var writer: CInt = -1
            expect("it reads its configuration\n\(run.output)", within: .seconds(60)) {
                writer = open(configuration, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
                return writer >= 0
            }
            defer { close(writer) }
            let children = try String(contentsOfFile: "/proc/\(run.pid)/task/\(run.pid)/children", encoding: .utf8)
            kill(try #require(pid_t(children.trimmingCharacters(in: .whitespacesAndNewlines))), number)
            #expect(run.status(within: .seconds(60)) == 128 + number, "\(run.output)")
        }
    }
}
