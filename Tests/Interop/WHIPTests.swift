import Foundation
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
            try Self.expectDecoded(gateway) { try Self.client("aiortc_whip.py", ["11", url, token]) }
        }

        @Test(.timeLimit(.minutes(10)))
        func `Chromium's pictures and sound are decoded at the router`() throws {
            let gateway = try Gateway()
            let (url, token) = try Self.endpoint(gateway)
            let page = url.replacing(/\/whip$/, with: "/publish")
            try Self.expectDecoded(gateway) { try Self.client("browser_whip.py", ["11", page, token, "camera"]) }
        }

        /// Three layers of H.264 from the browser: one arrives, with numbers that go on, and is decoded.
        @Test(.timeLimit(.minutes(10)))
        func `one layer of Chromium's simulcast is decoded at the router`() throws {
            let gateway = try Gateway()
            let (url, token) = try Self.endpoint(gateway)
            let page = url.replacing(/\/whip$/, with: "/publish")
            let capture = try gateway.captureFirstWHIP()
            let client = try ProgramRun(
                ["env", "LAYERS=3", Self.python, Self.script("browser_whip.py"), "10", page, token, "camera"])
            #expect(client.status(within: .browserScript) == 0, "\(client.output)")
            capture.finish()
            let layers = client.output.matches(of: /"video",(\d+),[^\]]*"[hml]"/).filter { Int($0.1) ?? 0 > 0 }
            #expect(layers.count >= 2, "the browser sent several layers: \(client.output)")
            #expect(client.output.contains("stopped 200"), "\(client.output)")
            #expect(try MediaFile.frameDigests(capture.file.path).count > 30, "\(client.output) \(capture.output)")
            gateway.stop()
        }

        /// libnice does not use 127.0.0.1: GStreamer and the gateway get a network namespace of their own.
        @Test(.timeLimit(.minutes(10)), .enabled(if: geteuid() == 0))
        func `GStreamer's pictures and sound are decoded at the router`() throws {
            let network = try NetworkNamespace()
            let gateway = try Gateway(in: network)
            let (url, token) = try Self.endpoint(gateway)
            let script = Self.script("gst_whip.py")
            try Self.expectDecoded(gateway) {
                try ProgramRun(network.command(["/usr/bin/python3", script, "11", url, token]))
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
                let client = try Self.client("aiortc_whip.py", ["12", url, token])
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

        /// Runs a client to its end: what it sends in 10 s, however slowly it encodes, comes out as pictures and sound.
        static func expectDecoded(
            _ gateway: Gateway, sourceLocation: SourceLocation = #_sourceLocation, _ publish: () throws -> ProgramRun
        ) throws {
            let capture = try gateway.captureFirstWHIP()
            let client = try publish()
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
