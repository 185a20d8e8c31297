import Foundation
import TestSupport
import Testing

extension Interop {
    /// WebRTC encoders against the real program; ffmpeg decodes what arrives at the router.
    @Suite struct WHIP {
        static let python: String = {
            let own = Workspace.package.appending(path: ".deps/venv/bin/python").path
            return FileManager.default.isExecutableFile(atPath: own) ? own : "python3"
        }()

        @Test(.timeLimit(.minutes(10)))
        func `aiortc's pictures and sound are decoded at the router`() throws {
            let gateway = try Gateway()
            let (url, token) = try Self.endpoint(gateway)
            try Self.expectDecoded(gateway) { try Self.client("aiortc_whip.py", [Self.untilTold, url, token]) }
        }

        @Test(.timeLimit(.minutes(10)))
        func `Chromium's pictures and sound are decoded at the router`() throws {
            let gateway = try Gateway()
            let (url, token) = try Self.endpoint(gateway)
            let page = url.replacing(/\/whip$/, with: "/publish")
            try Self.expectDecoded(gateway) { try Self.client("browser_whip.py", [Self.untilTold, page, token, "camera"]) }
        }

        /// Three layers of H.264 from the browser: one arrives, with numbers that go on, and is decoded.
        @Test(.timeLimit(.minutes(10)))
        func `one layer of Chromium's simulcast is decoded at the router`() throws {
            let gateway = try Gateway()
            let (url, token) = try Self.endpoint(gateway)
            let page = url.replacing(/\/whip$/, with: "/publish")
            let capture = try gateway.captureFirstWHIP()
            let client = try ProgramRun(
                ["env", "LAYERS=3", Self.python, Self.script("browser_whip.py"), Self.untilTold, page, token, "camera"])
            try gateway.awaitWHIP(pictures: 250, sounds: 200, from: client)
            try expect("several layers", within: .seconds(120)) {
                try gateway.liveLayers().count { $0.bitsPerSecond > 0 } >= 2 || !client.isRunning
            }
            client.send(SIGUSR2)
            #expect(client.status(within: .browserScript) == 0, "\(client.output)")
            capture.finish()
            let layers = client.output.matches(of: /"video",(\d+),[^\]]*"[hml]"/).filter { Int($0.1) ?? 0 > 0 }
            #expect(layers.count >= 2, "the browser sent several layers: \(client.output)")
            #expect(client.output.contains("stopped 200"), "\(client.output)")
            #expect(try MediaFile.frameDigests(capture.file.path).count > 30, "\(client.output) \(capture.output)")
            gateway.stop()
        }

        /// libnice does not use 127.0.0.1: GStreamer and the gateway get a network namespace of their own.
        @Test(.timeLimit(.minutes(10)), .enabled(if: Privileges.makesNetworks, "makes a network namespace, which needs root"))
        func `GStreamer's pictures and sound are decoded at the router`() throws {
            let network = try NetworkNamespace()
            let gateway = try Gateway(in: network)
            let (url, token) = try Self.endpoint(gateway)
            let script = Self.script("gst_whip.py")
            try Self.expectDecoded(gateway) {
                try ProgramRun(network.command(["/usr/bin/python3", script, Self.untilTold, url, token]))
            }
        }

        @Test(.timeLimit(.minutes(10)))
        func `the conformance script finds nothing`() throws {
            let gateway = try Gateway()
            let (url, token) = try Self.endpoint(gateway)
            let run = try Self.client("whip_conformance.py", [url, token])
            #expect(run.status(within: .seconds(60)) == 0, "\(run.output)")
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a stream goes on beside five thousand offers, most of them refused`() throws {
            let gateway = try Gateway()
            let (url, token) = try Self.endpoint(gateway)
            try Self.expectDecoded(gateway) {
                let client = try Self.client("aiortc_whip.py", [Self.untilTold, url, token])
                expect("it connects", within: .seconds(60)) { client.output.contains("state connected") }
                let flood = try ProgramRun.output(of: Self.offers(5_000, url: url), within: .seconds(300))
                let statuses = Set(flood.split(separator: "\n"))
                #expect(statuses.isSubset(of: ["401", "429", "503"]) && statuses.count > 1, "\(statuses)")
                return client
            }
        }

        private static func offers(_ count: Int, url: String) -> [String] {
            [
                "curl", "-s", "-o", "/dev/null", "-w", "%{http_code}\\n", "-H", "Content-Type: application/sdp", "-H",
                "Authorization: Bearer wrong", "--data", "v=0", "\(url)?[1-\(count)]",
            ]
        }

        /// Seconds; whoever starts a client with them ends it by SIGUSR2.
        static let untilTold = "\(Encoder.untilStopped)"

        /// Runs a client until enough of it has come, however slowly it encodes: that comes out as pictures and sound.
        static func expectDecoded(
            _ gateway: Gateway, sourceLocation: SourceLocation = #_sourceLocation, _ publish: () throws -> ProgramRun
        ) throws {
            let capture = try gateway.captureFirstWHIP()
            let client = try publish()
            try gateway.awaitWHIP(pictures: 100, sounds: 200, from: client)
            client.send(SIGUSR2)
            let status = client.status(within: .browserScript)
            #expect(status == 0, "\(client.output) \(gateway.log.suffix(2_000))", sourceLocation: sourceLocation)
            capture.finish()
            let pictures = try MediaFile.frameDigests(capture.file.path).count
            let sounds = try MediaFile.decodedSounds(capture.file.path)
            #expect(pictures > 50, "\(client.output) \(capture.output)", sourceLocation: sourceLocation)
            #expect(sounds > 100, "\(client.output)", sourceLocation: sourceLocation)
            gateway.stop()
        }

        static func endpoint(_ gateway: Gateway) throws -> (url: String, token: String) {
            (try #require(gateway.quickstart.whipURL), try #require(gateway.quickstart.whipToken))
        }

        static func script(_ name: String) -> String {
            Workspace.package.appending(path: "Tests/Interop/Clients/\(name)").path
        }

        static func client(_ name: String, _ arguments: [String]) throws -> ProgramRun {
            try ProgramRun([python, script(name)] + arguments)
        }
    }
}

extension Gateway {
    /// Returns once its WHIP publishers have brought so much from now on, all layers together, or the
    /// one that is looked at has ended.
    func awaitWHIP(pictures: Double, sounds: Double, from client: ProgramRun) throws {
        func came(_ kind: String) throws -> Double {
            try metrics().sum("stagedoor_rx_frames_total", "protocol=\"whip\"", "kind=\"\(kind)\"")
        }
        let (video, audio) = (try came("video"), try came("audio"))
        try expect("\(pictures) pictures and \(sounds) sounds\n\(client.output)", within: .seconds(240)) {
            if !client.isRunning { return true }
            return try came("video") >= video + pictures && came("audio") >= audio + sounds
        }
    }
}
