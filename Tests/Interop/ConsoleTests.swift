import Foundation
import Testing

extension Interop {
    /// The console as an operator has it: in a browser, against the running program.
    @Suite struct ConsoleInChromium {
        @Test(.timeLimit(.minutes(10)))
        func `an operator signs in, sees, drains and disconnects, and nobody else can`() throws {
            let gateway = try Gateway(configuration: "drain: {grace: 0s, timeout: 10m}")
            let quickstart = gateway.quickstart
            // The words of a refusal are said once more at the next attempt; after that the key is free.
            for _ in 1...2 {
                let refused = try Encoder.ffmpeg(Self.bFrames, to: quickstart.publishURL)
                #expect(refused.status(within: .seconds(60)) != 0)
            }
            let encoder = try Encoder.ffmpeg(.p30, to: quickstart.publishURL, seconds: Encoder.untilStopped)
            expect("a live stream", within: .seconds(60)) { gateway.log.contains("\"rtmp_publish_granted\"") }
            let page = try ProgramRun([
                "/usr/bin/python3", Self.script("console_page.py"), try #require(quickstart.adminURL),
                try #require(quickstart.accessKeyId),
                try #require(quickstart.secretAccessKey), quickstart.participantId, try Self.pictures().path,
            ])
            #expect(page.status(within: .browserScript) == 0, "\(page.output)\n\(gateway.log.suffix(2_000))")
            #expect(encoder.status(within: .seconds(60)) != nil, "the encoder was cut")
            #expect(encoder.output.contains("The show is over"), "\(encoder.output)")
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `layers have curves and a table, and a paused one is told`() throws {
            let gateway = try Gateway()
            let quickstart = gateway.quickstart
            let page = try ProgramRun([
                "/usr/bin/python3", Self.script("console_layers.py"), try #require(quickstart.adminURL),
                try #require(quickstart.accessKeyId), try #require(quickstart.secretAccessKey), try Self.pictures().path,
            ])
            expect("a browser that waits for it\n\(page.output)", within: .browserScript) {
                page.output.contains("overview") || !page.isRunning
            }
            let encoder = try Encoder.simulcast(to: gateway, seconds: Encoder.untilStopped, options: ["--rest", "0:90-"])
            #expect(page.status(within: .browserScript) == 0, "\(page.output)\n\(gateway.log.suffix(2_000))")
            encoder.interrupt()
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `of two encoders the page tells which is the source, and switches at a press`() throws {
            let stage = try RedundantPair()
            stage.awaitBoth()
            let quickstart = stage.gateway.quickstart
            let page = try ProgramRun([
                "/usr/bin/python3", Self.script("console_redundant.py"), try #require(quickstart.adminURL),
                try #require(quickstart.accessKeyId), try #require(quickstart.secretAccessKey),
            ])
            #expect(page.status(within: .browserScript) == 0, "\(page.output)\n\(stage.logTail)")
            #expect(try stage.gateway.metrics().sum("stagedoor_redundant_switches_total", "reason=\"operator\"") > 0)
            stage.gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a stage is recorded from the page on, which shows the latest picture of whoever is live`() throws {
            let gateway = try Gateway()
            let quickstart = gateway.quickstart
            let page = try ProgramRun([
                "/usr/bin/python3", Self.script("console_recording.py"), try #require(quickstart.adminURL),
                try #require(quickstart.accessKeyId), try #require(quickstart.secretAccessKey), try Self.pictures().path,
            ])
            expect("a stage that is recorded\n\(page.output)", within: .browserScript) {
                page.output.contains("the stage is recorded") || !page.isRunning
            }
            let encoder = try Encoder.ffmpeg(.p30, to: quickstart.publishURL, seconds: Encoder.untilStopped)
            #expect(page.status(within: .browserScript) == 0, "\(page.output)\n\(gateway.log.suffix(2_000))")
            encoder.interrupt()
            gateway.stop()
        }

        /// Media Source takes no further track where there was sound alone.
        @Test(.timeLimit(.minutes(10)))
        func `a recording of sound alone plays on where pictures follow`() throws {
            let gateway = try Gateway()
            let quickstart = gateway.quickstart
            let page = try ProgramRun([
                "/usr/bin/python3", Self.script("console_recording.py"), try #require(quickstart.adminURL),
                try #require(quickstart.accessKeyId), try #require(quickstart.secretAccessKey), try Self.pictures().path, "later",
            ])
            expect("a stage that is recorded\n\(page.output)", within: .browserScript) {
                page.output.contains("the stage is recorded") || !page.isRunning
            }
            let client = try WHIPClient.aiortc(gateway, seconds: Encoder.untilStopped, environment: ["VIDEO=later"])
            expect("sound alone\n\(page.output)", within: .browserScript) {
                page.output.contains("sound alone plays") || !page.isRunning
            }
            client.send(SIGUSR1)
            #expect(page.status(within: .browserScript) == 0, "\(page.output)\n\(gateway.log.suffix(2_000))")
            client.send(SIGUSR2)
            #expect(client.status(within: .seconds(60)) == 0, "\(client.output)")
            gateway.stop()
        }

        /// Nothing of the console, and nothing of `/v1/`, is on the listeners that everybody reaches.
        @Test(.timeLimit(.minutes(10)))
        func `the public listener has no console`() throws {
            let gateway = try Gateway()
            let whip = try #require(gateway.quickstart.whipURL)
            for (path, status) in [
                ("/", "204"), ("/console/console.js", "404"), ("/v1/overview", "404"), ("/v1/console/session", "404"),
            ] {
                let url = whip.replacing(/\/whip$/, with: path)
                let answer = try ProgramRun.output(
                    of: ["curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", url], within: .seconds(60))
                #expect(answer == status, "\(path)")
            }
            gateway.stop()
        }

        private static let bFrames = Clip(name: "High with B-frames", profile: "high", bFrames: 2)

        private static func script(_ name: String) -> String {
            URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Clients/\(name)").path
        }

        /// Where the pictures are kept, to be looked at.
        private static func pictures() throws -> URL {
            let folder = Workspace.package.appending(path: "artifacts")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            return folder
        }
    }
}
