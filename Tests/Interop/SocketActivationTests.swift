import Foundation
import Testing

extension Interop {
    /// Sockets that were bound before the program started, as by systemd's socket units.
    @Suite struct SocketActivation {
        @Test(.timeLimit(.minutes(10)))
        func `every listener takes the socket of its name, and publishers come in by it`() throws {
            let gateway = try Gateway(
                configuration: "workers: {count: 2}",
                launcher: launcher([
                    "rtmp=127.0.0.1:0", "http=127.0.0.1:0", "media=127.0.0.1:0:udp", "media=127.0.0.1:0:udp", "admin=127.0.0.1:0",
                ]))
            #expect(port(of: gateway.quickstart.rtmpURL) == given("rtmp", gateway))
            #expect(port(of: gateway.quickstart.whipURL) == given("http", gateway))
            #expect(port(of: gateway.quickstart.adminURL) == given("admin", gateway))
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: 2)
            #expect(encoder.status(within: .seconds(60)) == 0)
            let whip = try gateway.whipPublishers(4, clip: try Clip.p30.file(), seconds: 2)
            let sent = try whip.report(WHIPSent.self, within: .seconds(60))
            #expect(sent.streams == 4 && sent.deleted == 4)
            #expect(!gateway.log.contains("\"single_media_socket\""))
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `one socket for all workers serves too, with a warning where it is for media`() throws {
            let gateway = try Gateway(
                configuration: "workers: {count: 2}",
                launcher: launcher(["rtmp=127.0.0.1:0", "media=127.0.0.1:0:udp"]))
            expect("the warning is in the log", within: .seconds(60)) { gateway.log.contains("\"single_media_socket\"") }
            let whip = try gateway.whipPublishers(4, clip: try Clip.p30.file(), seconds: 2)
            #expect(try whip.report(WHIPSent.self, within: .seconds(60)).deleted == 4)
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: 2)
            #expect(encoder.status(within: .seconds(60)) == 0)
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `an unknown name is refused in words`() throws {
            let run = try ProgramRun(
                launcher(["rtpm=127.0.0.1:0"]) + [
                    try Workspace.program("stagedoor"), "serve", "--quickstart", "--data",
                    Workspace.temporaryFile(suffix: ".data").path,
                ])
            #expect(run.status(within: .seconds(60)) == 1)
            #expect(run.output.contains("“rtpm” is none of admin, http, https, media, media-tcp, rtmp, shared"))
        }

        @Test(.timeLimit(.minutes(10)))
        func `a service manager is told whose place the main process's is`() throws {
            let manager = try NotifySocket()
            let gateway = try Gateway(launcher: ["env", "NOTIFY_SOCKET=\(manager.path)", "WATCHDOG_USEC=2000000"])
            expect("ready", within: .seconds(60)) { manager.lines == ["READY=1"] }
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            expect("a live stream", within: .seconds(60)) { gateway.log.contains("\"rtmp_publish_granted\"") }
            kill(gateway.pid, SIGUSR2)
            expect("the new one serves", within: .seconds(60)) { gateway.log.contains("\"took_over\"") }
            let second = try #require(Int32(try gateway.lockHolder()))
            #expect(second != gateway.pid)
            expect("its place is told before it says that it is ready", within: .seconds(60)) {
                manager.lines == ["READY=1", "MAINPID=\(second)", "READY=1"]
            }
            kill(second, SIGKILL)
            expect("back", within: .seconds(60)) {
                manager.lines.suffix(2) == ["MAINPID=\(gateway.pid)", "READY=1"]
            }
            let heartbeats = manager.heartbeats
            expect("it is watched as before", within: .seconds(60)) { manager.heartbeats >= heartbeats + 2 }
            encoder.interrupt()
            gateway.stop()
            #expect(manager.lines.last == "STOPPING=1")
        }

        private func launcher(_ sockets: [String]) -> [String] {
            let folder = Workspace.package
            return [folder.appending(path: ".deps/venv/bin/python").path]
                + [folder.appending(path: "Tests/Interop/Clients/activate.py").path] + sockets + ["--"]
        }

        private func given(_ name: String, _ gateway: Gateway) -> Int? {
            gateway.log.split(separator: "\n").first { $0.hasPrefix(name + " ") }?.split(separator: " ").last.flatMap { Int($0) }
        }

        private func port(of url: String?) -> Int? { url.flatMap { URLComponents(string: $0)?.port } }
    }
}
