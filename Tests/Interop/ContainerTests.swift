import Foundation
import Testing

extension Interop {
    /// The image of `make image` in a real engine, run as docs/operations.md says.
    @Suite(.enabled(if: Forky.isAsked, "needs a container engine and the image: run `make interop`"))
    struct ContainerImage {
        @Test(.timeLimit(.minutes(10)))
        func `starts at once, healthy, as its own user, without rights`() throws {
            let container = try Container()
            let begin = ContinuousClock.now
            expect("it is healthy\n\(container.log)", within: .seconds(60)) {
                (try? container.execute(["/opt/stagedoor/bin/stagedoor-health"])) != nil
            }
            print("container: healthy \(begin.duration(to: .now)) after the engine had started it")
            #expect(try container.inspect("{{json .Config.Healthcheck.Test}}").contains("stagedoor-health"))
            let status = try String(contentsOfFile: "/proc/\(container.pid)/status", encoding: .utf8)
            #expect(
                status.contains(/Uid:\s+10001\s/) && status.contains(/CapBnd:\s+0{16}\s/) && status.contains(/NoNewPrivs:\s+1\s/))
            #expect(throws: ProgramRun.Fault.self) { try container.execute(["touch", "/opt/stagedoor/written"]) }
            let lines = container.log.split(separator: "\n")
            #expect(lines.allSatisfy { (try? JSONSerialization.jsonObject(with: Data($0.utf8))) != nil }, "\(container.log)")
            for library in ["libsrtp2 ", "libnice ", "ffmpeg "] { #expect(container.log.contains("\"\(library)")) }
            let took = try container.stop()
            #expect(try container.inspect("{{.State.ExitCode}}") == "0", "\(container.log)")
            print("container: SIGTERM with nobody there took \(took)")
        }

        @Test(.timeLimit(.minutes(10)))
        func `takes as many workers as it is given processors, and keeps stage and key when started again`() throws {
            let container = try Container.quickstart(["--cpus", "1", "--memory", "512m"])
            let first = try container.readQuickstart()
            #expect(container.log.contains(#""workers":1,"#), "\(container.log)")
            try container.stop()
            try container.start()
            let second = try container.readQuickstart()
            #expect(first.streamKey == second.streamKey && first.stageArn == second.stageArn && first.stageArn != nil)
        }

        /// Ends with a live stream: 1 s of grace, a drain of 8 s, and 20 s until the engine would kill it.
        @Test(.timeLimit(.minutes(10)))
        func `takes streams from outside by every protocol, shows them, and drains when it is stopped`() throws {
            let container = try Container.quickstart(settings: ["DRAIN_GRACE": "1s", "DRAIN_TIMEOUT": "8s"])
            let quickstart = try container.readQuickstart()
            let address = try container.address
            let rtmp = try Encoder.ffmpeg(
                .long, to: "rtmp://\(address):1935/app/\(quickstart.streamKey)", seconds: Encoder.untilStopped)
            expect("RTMP\n\(rtmp.output)", within: .seconds(60)) { container.log.contains("rtmp_publish_granted") }
            let browser = try ProgramRun([
                WHIP.python, WHIP.script("browser_whip.py"), "30", "http://\(address):8080/publish",
                try #require(quickstart.whipToken), "pattern",
            ])
            expect("Chromium\n\(browser.output)", within: .seconds(60)) { container.log.contains("whip_connected") }
            let stage = try #require(quickstart.stageId)
            let viewer = try ProgramRun([
                "env", "UNTIL=1,0", WHIP.python, WHIP.script("aiortc_whep.py"), "6", try #require(quickstart.whipToken),
                "http://\(address):8080/whep/\(stage)/\(quickstart.participantId)",
                "http://\(address):8080/whep/\(stage)/\(try #require(quickstart.whipParticipantId))",
            ])
            #expect(viewer.status(within: .seconds(60)) == 0, "\(viewer.output)")
            #expect(viewer.output.matches(of: /first picture/).count == 2, "\(viewer.output)")
            #expect(browser.status(within: .browserScript) == 0, "\(browser.output)")
            #expect(browser.output.contains("stopped 200"), "\(browser.output)")
            #expect(try container.metrics().sum("stagedoor_sessions", "state=\"live\"") == 1)

            let took = try container.stop(grace: 20)
            print("container: SIGTERM with a live stream took \(took)")
            #expect(try container.inspect("{{.State.ExitCode}}") == "0", "\(container.log.suffix(4_000))")
            #expect((.seconds(7)...(.seconds(19))).contains(took), "the drain's time, and no kill")
            #expect(container.log.contains(#""event":"stopped""#), "\(container.log.suffix(2_000))")
            #expect(rtmp.status(within: .seconds(60)) != nil)
        }

        @Test(.timeLimit(.minutes(10)))
        func `takes RTMPS from outside`() throws {
            let container = try Container.quickstart()
            let quickstart = try container.readQuickstart()
            let address = try container.address
            let encoder = try Encoder.ffmpeg(
                .p30, to: "rtmps://\(address):1935/app/\(quickstart.streamKey)", options: ["-tls_verify", "0"], seconds: 5)
            #expect(encoder.status(within: .seconds(60)) == 0, "\(encoder.output)\n\(container.log.suffix(2_000))")
            #expect(container.log.contains("session_ended"))
        }

        /// The kernel ends the first process of a container that is over its limit of memory; here another process of the same
        /// container takes the memory, and the kernel is told which of them to choose.
        @Test(.timeLimit(.minutes(10)), .enabled(if: geteuid() == 0, "chooses the kernel's victim, which needs root"))
        func `has every acknowledged write after the kernel ended it for want of memory`() throws {
            let container = try Container.quickstart(
                ["--memory", "192m", "--memory-swap", "192m"],
                settings: ["RATES_RESOURCES": "100000", "QUOTAS_STAGES": "100000"])
            let quickstart = try container.readQuickstart()
            let credentials = [
                try container.admin, try #require(quickstart.accessKeyId), try #require(quickstart.secretAccessKey),
            ]
            let writer = try ProgramRun([WHIP.python, WHIP.script("control_api.py"), "write"] + credentials + ["oom"])
            expect("it writes\n\(writer.output)", within: .seconds(60)) { writer.output.split(separator: "\n").count > 20 }
            try "1000".write(toFile: "/proc/\(container.pid)/oom_score_adj", atomically: false, encoding: .utf8)
            _ = try? container.execute(["bash", "-c", "head -c 400000000 /dev/zero | tail >/dev/null"])
            expect("it is gone\n\(container.log.suffix(2_000))", within: .seconds(60)) { !container.isRunning }
            #expect(try container.inspect("{{.State.ExitCode}}") == "137")
            #expect(writer.status(within: .seconds(60)) != nil)
            let acknowledged = Set(writer.output.split(separator: "\n").filter { $0.hasPrefix("oom") }.map(String.init))

            try container.start()
            _ = try container.readQuickstart()
            let reader = try ProgramRun(
                [WHIP.python, WHIP.script("control_api.py"), "names", try container.admin] + credentials.dropFirst())
            #expect(reader.status(within: .seconds(90)) == 0, "\(reader.output)")
            let kept = Set(reader.output.split(separator: "\n").map(String.init))
            #expect(acknowledged.count > 20 && acknowledged.subtracting(kept).isEmpty, "\(acknowledged.subtracting(kept))")
            print("container: \(acknowledged.count) acknowledged writes before the kernel's kill, all kept")
        }
    }
}
