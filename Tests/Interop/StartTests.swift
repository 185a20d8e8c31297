import Foundation
import Testing

extension Interop {
    /// What a process gets before it serves, from whoever started it and by signals.
    @Suite struct Start {
        private static let anyPorts = ["http", "https", "rtmp", "media", "admin"].map { listener in
            "\(listener): {listen: \"127.0.0.1:0\"}\n"
        }.joined()

        /// Its configuration is a pipe into which nobody has written yet: so long does the start take.
        @Test(.timeLimit(.minutes(10)))
        func `SIGHUP waits until the gateway serves, and SIGUSR2 is nothing to one that starts`() throws {
            let file = Workspace.temporaryFile(suffix: ".yaml").path
            try #require(mkfifo(file, 0o600) == 0)
            let data = Workspace.temporaryFile(suffix: ".data").path
            let run = try ProgramRun([try Workspace.program("stagedoor"), "serve", "--config", file, "--data", data])
            var writer: CInt = -1
            expect("it reads its configuration\n\(run.output)", within: .seconds(60)) {
                writer = open(file, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
                return writer >= 0
            }
            run.send(SIGUSR2)
            run.send(SIGHUP)
            expect("it has SIGHUP", within: .seconds(60)) { !run.isRunning || isPending(SIGHUP, at: run.pid) }
            // What is read again is a file: a pipe would be waited for.
            try Self.anyPorts.write(toFile: file + ".new", atomically: true, encoding: .utf8)
            try #require(rename(file + ".new", file) == 0)
            let written = write(writer, Self.anyPorts, Self.anyPorts.utf8.count)
            close(writer)
            #expect(written == Self.anyPorts.utf8.count)
            expect("it is done\n\(run.output)", within: .seconds(60)) {
                !run.isRunning || run.output.contains("\"event\":\"reloaded\",\"because\":\"SIGHUP\"")
            }
            #expect(run.isRunning && !run.output.contains("successor"), "\(run.output)")
            run.send(SIGTERM)
            #expect(run.status(within: .seconds(60)) == 0, "\(run.output)")
        }

        private func isPending(_ number: Int32, at process: pid_t) -> Bool {
            let status = (try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)) ?? ""
            let line = status.split(separator: "\n").first { $0.hasPrefix("ShdPnd:") }
            let set = line.flatMap { UInt64($0.dropFirst(7).trimmingCharacters(in: .whitespaces), radix: 16) } ?? 0
            return set >> UInt64(number - 1) & 1 == 1
        }

        /// The first file that is opened is the data directory's lock: it had the log in it.
        @Test(.timeLimit(.minutes(10)))
        func `without standard error the log goes nowhere, and into no file`() throws {
            let file = Workspace.temporaryFile(suffix: ".yaml").path
            try Self.anyPorts.write(toFile: file, atomically: true, encoding: .utf8)
            let data = Workspace.temporaryFile(suffix: ".data").path
            let line = "\(try Workspace.program("stagedoor")) serve --quickstart --config \(file) --data \(data)"
            let run = try ProgramRun(["sh", "-c", "exec \(line) <&- >&- 2>&-"])
            expect("it serves", within: .seconds(60)) {
                !run.isRunning || FileManager.default.fileExists(atPath: data + "/quickstart.json")
            }
            run.send(SIGTERM)
            #expect(run.status(within: .seconds(60)) == 0)
            #expect(try String(contentsOfFile: data + "/lock", encoding: .utf8) == "\(run.pid)\n")
        }
    }
}
