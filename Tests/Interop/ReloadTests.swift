import Foundation
import Testing

extension Interop {
    /// Changes taken up without a restart, or not at all.
    @Suite struct Reload {
        @Test(.timeLimit(.minutes(10)))
        func `SIGHUP applies a rule to a live stream`() throws {
            let gateway = try Gateway(configuration: "contract: {videoBitrate: {limit: 8500000}}")
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            expect("a live stream", within: .seconds(60)) { gateway.log.contains("\"rtmp_publish_granted\"") }
            try gateway.change("limit: 8500000", to: "limit: 100000")
            expect("the reload", within: .seconds(60)) { gateway.log.contains("\"applied\":[\"contract.videoBitrate.limit\"]") }
            #expect(encoder.status(within: .seconds(60)) != nil, "\(gateway.log.suffix(2_000))")
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a broken file changes nothing and is explained`() throws {
            let gateway = try Gateway(configuration: "overload: {maximumPublishers: 5, cpu: 100, loopLag: 5s}")
            try gateway.change("maximumPublishers: 5", to: "maximumPublisher: 0")
            expect("the refusal", within: .seconds(60)) {
                gateway.log.contains("\"reload_refused\"") && gateway.log.contains("did you mean overload.maximumPublishers")
            }
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: 3)
            #expect(encoder.status(within: .seconds(60)) == 0)
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `what needs a restart is named`() throws {
            let gateway = try Gateway(configuration: "workers: {verifiers: 1}")
            try gateway.change("verifiers: 1", to: "verifiers: 2")
            expect("the report", within: .seconds(60)) { gateway.log.contains("\"need_restart\":[\"workers.verifiers\"]") }
            try gateway.change("  embedded: {driver: embedded}\n", to: "")
            expect("both, until they are in force", within: .seconds(60)) {
                gateway.log.contains("\"need_restart\":[\"workers.verifiers\",\"routers.embedded\"]")
            }
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a file that is replaced is noticed without a signal`() throws {
            let gateway = try Gateway(configuration: "overload: {cpu: 85}")
            let text = try String(contentsOf: gateway.settings, encoding: .utf8)
            try text.replacingOccurrences(of: "cpu: 85", with: "cpu: 70").write(
                to: gateway.settings, atomically: true, encoding: .utf8)
            expect("the reload", within: .seconds(60)) { gateway.log.contains("\"applied\":[\"overload.cpu\"]") }
            gateway.stop()
        }
    }

    /// Certificates of the operator's, exchanged while streams run over them.
    @Suite struct Certificates {
        @Test(.timeLimit(.minutes(10)))
        func `certificates are swapped under a live RTMPS stream, a bad pair is refused`() throws {
            let pair = try CertificatePair(name: "first.example")
            let gateway = try Gateway(configuration: "tls: {certificate: \"\(pair.certificate)\", privateKey: \"\(pair.key)\"}")
            let rtmps = try #require(gateway.quickstart.rtmpsURL)
            #expect(try shownName(rtmps).contains("first.example"))
            let encoder = try Encoder.ffmpeg(.p30, to: "\(rtmps)/\(gateway.quickstart.streamKey)", seconds: Encoder.untilStopped)
            expect("a live stream", within: .seconds(60)) { gateway.log.contains("\"rtmp_publish_granted\"") }

            try pair.write(name: "second.example")
            kill(gateway.pid, SIGHUP)
            try expect("the new certificate", within: .seconds(60)) { try shownName(rtmps).contains("second.example") }

            try "no key at all".write(toFile: pair.key, atomically: true, encoding: .utf8)
            kill(gateway.pid, SIGHUP)
            expect("the refusal", within: .seconds(60)) { gateway.log.contains("\"reload_refused\"") }
            #expect(try shownName(rtmps).contains("second.example"))

            for number in 1...5 {
                try pair.write(name: "host\(number).example")
                kill(gateway.pid, SIGHUP)
                try expect("certificate \(number)", within: .seconds(60)) {
                    try shownName(rtmps).contains("host\(number).example")
                }
            }
            #expect(encoder.isRunning)
            #expect(!gateway.log.contains("\"rtmp_publish_ended\""))
            encoder.interrupt()
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a hundred swaps under fifty streams drop none`() throws {
            let pairs = try ["even.example", "odd.example"].map { try CertificatePair(name: $0) }
            let used = try CertificatePair(name: "first.example")
            let gateway = try Gateway(
                configuration: """
                    tls: {certificate: "\(used.certificate)", privateKey: "\(used.key)"}
                    rates: {resources: 10000}
                    quotas: {ingestConfigurations: 1000}
                    limits: {connectionsPerAddress: 1000}
                    """, participants: 60)
            let keys = try gateway.makeStreamKeys(stages: 5, each: 10)
            let sender = try ProgramRun([
                try Workspace.program("stagedoor-bench"), "rtmp", try #require(gateway.quickstart.rtmpsURL), "--keys", keys.path,
                "--flv", try Clip.p30.file(), "--seconds", "\(Encoder.untilStopped)",
            ])
            try expect("fifty live streams", within: .seconds(60)) {
                try gateway.admin("metrics").contains("stagedoor_sessions{protocol=\"rtmps\",state=\"live\"} 50")
            }
            for number in 1...100 {
                try used.copy(pairs[number % 2])
                kill(gateway.pid, SIGHUP)
                expect("swap \(number)", within: .seconds(60)) {
                    gateway.log.components(separatedBy: "\"certificates\":true").count == number + 1
                }
            }
            #expect(try gateway.admin("metrics").contains("stagedoor_sessions{protocol=\"rtmps\",state=\"live\"} 50"))
            #expect(!gateway.log.contains("\"rtmp_publish_ended\""))
            #expect(sender.isRunning)
            sender.kill()
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `the certificate follows the name that the client asks for`() throws {
            let pairs = try ["one.example", "*.two.example"].map { try CertificatePair(name: $0) }
            let gateway = try Gateway(
                configuration: """
                    certificates:
                      one: {certificate: "\(pairs[0].certificate)", privateKey: "\(pairs[0].key)"}
                      two: {certificate: "\(pairs[1].certificate)", privateKey: "\(pairs[1].key)"}
                    """)
            let rtmps = try #require(gateway.quickstart.rtmpsURL)
            #expect(try shownName(rtmps, asking: "one.example").contains("one.example"))
            #expect(try shownName(rtmps, asking: "live.two.example").contains("*.two.example"))
            #expect(try shownName(rtmps, asking: "three.example").contains("localhost"))
            gateway.stop()
        }

        /// The subject of the certificate that a new connection is shown.
        private func shownName(_ url: String, asking name: String = "localhost") throws -> String {
            let components = try #require(URLComponents(string: url))
            let address = "\(try #require(components.host)):\(try #require(components.port))"
            return try ProgramRun.output(
                of: [
                    "sh", "-c",
                    "openssl s_client -connect \(address) -servername \(name) </dev/null 2>/dev/null | openssl x509 -noout -subject",
                ], within: .seconds(60))
        }
    }
}

/// A certificate that vouches for itself, and its key, in files.
struct CertificatePair {
    let certificate = Workspace.temporaryFile(suffix: ".pem").path
    let key = Workspace.temporaryFile(suffix: ".key").path

    init(name: String) throws { try write(name: name) }

    func copy(_ other: CertificatePair) throws {
        for (from, to) in [(other.certificate, certificate), (other.key, key)] {
            try Data(contentsOf: URL(fileURLWithPath: from)).write(to: URL(fileURLWithPath: to), options: .atomic)
        }
    }

    func write(name: String) throws {
        _ = try ProgramRun.output(
            of: [
                "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
                "-subj", "/CN=\(name)", "-addext",
                "subjectAltName=\(name.allSatisfy { $0.isNumber || $0 == "." } ? "IP" : "DNS"):\(name)", "-keyout", key, "-out",
                certificate,
            ], within: .seconds(60))
    }
}
