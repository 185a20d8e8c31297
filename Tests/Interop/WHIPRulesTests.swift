import Foundation
import TestSupport
import Testing

extension Interop {
    /// Who is let in by WHIP, who is not and how that is told, and who takes over from whom: with
    /// aiortc against the real program.
    @Suite struct WHIPRules {
        struct Fault: Sendable, CustomTestStringConvertible {
            var wrong: String
            var verdict: String
            var metric: String
            var steps: [String]
            var testDescription: String { "wrong \(wrong)" }
        }

        static let faults = [
            Fault(
                wrong: "fingerprint", verdict: "fingerprint", metric: "stagedoor_dtls_failed_total",
                steps: ["posted", "firstCheck", "claimed", "ended"]),
            Fault(
                wrong: "password", verdict: "wrong password", metric: "stagedoor_stun_rejected_total", steps: ["posted", "ended"]),
        ]

        @Test(.timeLimit(.minutes(10)), arguments: faults)
        func `a client that is not the one of its offer forwards nothing, and is told of`(fault: Fault) throws {
            let gateway = try Gateway()
            let router = try RouterEnd(firstPort: gateway.routerPorts.lowerBound + 4)
            let client = try WHIPClient.aiortc(
                gateway, seconds: Encoder.untilStopped, environment: ["WRONG=\(fault.wrong)"])
            try expect("it is noticed\n\(client.output)", within: .seconds(60)) {
                Gateway.sample(fault.metric, in: try gateway.admin("metrics")) ?? 0 > 0
            }
            client.send(SIGUSR2)
            _ = client.status(within: .seconds(60))
            #expect(client.output.contains("POST 201") && !client.output.contains("state connected"), "\(client.output)")
            try expect("the session has ended", within: .seconds(60)) { try !gateway.endedSessions().isEmpty }
            let told = try #require(try gateway.endedSessions().first)
            #expect(told.story.verdict?.contains(fault.verdict) == true, "\(told)")
            #expect(told.story.steps.map(\.step) == fault.steps)
            #expect(router.drain() == 0)
            let metrics = try gateway.admin("metrics")
            #expect(try #require(Gateway.sample(fault.metric, in: metrics)) > 0)
            #expect(Metrics(metrics).sum("stagedoor_rx_packets_total") == 0)
            let line = gateway.log.split(separator: "\n").first { $0.contains("\"whip_ended\"") }
            #expect(line?.contains(fault.verdict) == true)
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `the session's story has each step with its time, in the log, by HTTP and as a histogram`() throws {
            let gateway = try Gateway()
            let client = try WHIPClient.aiortc(gateway, seconds: Encoder.untilStopped)
            expect("pictures", within: .seconds(60)) { client.output.contains("state connected") }
            let id = try #require(client.output.firstMatch(of: /session \S+\/([^\/\s]+)/).map { String($0.1) })
            try expect("pictures are told of", within: .seconds(60)) {
                let told = try gateway.session(id)
                return told.story.steps.contains { $0.step == "firstIDR" } && told.media.video.packets > 100
            }
            let live = try gateway.session(id)
            #expect(live.state == "live" && live.story.verdict == nil)
            client.send(SIGUSR2)
            #expect(client.status(within: .seconds(60)) == 0, "\(client.output)")
            let told = try gateway.session(id)
            // On a slow machine audio may be alone for a while.
            let steps = told.story.steps.filter { $0.step != "audioAlone" }
            #expect(
                Set(steps.map(\.step)) == [
                    "posted", "firstCheck", "claimed", "handshakeDone", "leaseGranted", "announced", "firstRTP", "firstIDR",
                    "ended",
                ])
            #expect(steps.map(\.milliseconds) == steps.map(\.milliseconds).sorted())
            #expect(steps.allSatisfy { $0.time.hasSuffix("Z") })
            #expect(steps.first { $0.step == "firstCheck" }?.peer != nil && steps.first { $0.step == "claimed" }?.peer != nil)
            #expect(told.state == "ended" && told.story.verdict?.hasPrefix("The publisher ended the session after ") == true)
            #expect(told.media.video.packets > 100 && told.media.video.lost <= gateway.droppedDatagrams)
            let metrics = try gateway.admin("metrics")
            let line = try #require(gateway.log.split(separator: "\n").first { $0.contains("\"whip_ended\"") })
            for step in steps.map(\.step) {
                #expect(line.contains("\(step)+"))
                guard !["posted", "firstRTP", "firstIDR", "ended"].contains(step) else { continue }
                #expect(Metrics(metrics).sum("stagedoor_setup_seconds_count", "protocol=\"whip\",stage=\"\(step)\"") == 1)
            }
            for step in ["firstVideo", "firstKeyframe", "firstAudio"] {
                #expect(Metrics(metrics).sum("stagedoor_setup_seconds_count", "protocol=\"whip\",stage=\"\(step)\"") == 1)
            }
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `strict ETags pass the conformance script too`() throws {
            let gateway = try Gateway(configuration: "whip: {strictETags: true}")
            let url = try #require(gateway.quickstart.whipURL)
            let token = try #require(gateway.quickstart.whipToken)
            let script = WHIPClient.script("whip_conformance.py")
            let run = try ProgramRun([WHIPClient.python, script, url, token, "--strict-etags"])
            #expect(run.status(within: .seconds(60)) == 0, "\(run.output)")
            #expect(run.output.contains("ok   21b"))
            gateway.stop()
        }

        /// Status by name; what is not named is taken.
        static let refused: [String: Int] = [
            "chromium-156.0.8078.79-audioonly": 422, "firefox-153.7.0esr-noh264": 422,
            "firefox-153.7.0esr-noh264-va-gathered": 422, "ffmpeg-9.0.2-copy-high": 422,
        ]

        @Test(.timeLimit(.minutes(10)))
        func `each captured offer is answered, or refused for its reason`() throws {
            let gateway = try Gateway()
            for fixture in OfferFixture.all {
                let offer = Workspace.temporaryFile(suffix: ".sdp")
                try Data(fixture.body).write(to: offer)
                let answer = try WHIPClient.post(offer, to: gateway)
                #expect(answer.status == Self.refused[fixture.name] ?? 201, "\(fixture.name): \(answer.body)")
                #expect(answer.body.hasPrefix(answer.status == 201 ? "v=0\r\n" : "{"), "\(fixture.name)")
            }
            #expect(OfferFixture.all.count == 31)
            gateway.stop()
        }
    }
}

/// WHIP clients of Tests/Interop/Clients, and raw requests.
enum WHIPClient {
    static let python: String = {
        let own = Workspace.package.appending(path: ".deps/venv/bin/python").path
        return FileManager.default.isExecutableFile(atPath: own) ? own : "python3"
    }()

    static func script(_ name: String) -> String {
        Workspace.package.appending(path: "Tests/Interop/Clients/\(name)").path
    }

    /// - Parameter environment: `NAME=value`, for the client alone.
    static func aiortc(_ gateway: Gateway, seconds: Int, environment: [String] = []) throws -> ProgramRun {
        let url = try #require(gateway.quickstart.whipURL)
        let token = try #require(gateway.quickstart.whipToken)
        return try ProgramRun(["env"] + environment + [python, script("aiortc_whip.py"), "\(seconds)", url, token])
    }

    /// Sends an offer as it is.
    static func post(_ offer: URL, to gateway: Gateway) throws -> (status: Int, body: String) {
        let output = try ProgramRun.output(
            of: [
                "curl", "-sS", "--max-time", "50", "-H", "Content-Type: application/sdp", "-H",
                "Authorization: Bearer \(try #require(gateway.quickstart.whipToken))", "--data-binary", "@\(offer.path)", "-w",
                "\n%{http_code}", try #require(gateway.quickstart.whipURL),
            ], within: .seconds(60))
        let parts = output.split(separator: "\n", omittingEmptySubsequences: false)
        return (Int(parts.last ?? "") ?? 0, parts.dropLast().joined(separator: "\n"))
    }
}
