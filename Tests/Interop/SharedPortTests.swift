import Foundation
import TestSupport
import Testing

extension Interop {
    /// HTTPS, RTMPS and ICE-TCP at one port, for networks that let nothing else out.
    @Suite struct OnePort {
        /// As 443 stands for it: any free port.
        private static let shared = "listen: {shared: \"127.0.0.1:0\"}"

        @Test(.timeLimit(.minutes(10)))
        func `beside a thousand strangers with garbage every picture arrives by RTMPS, and pages by HTTPS`() throws {
            let gateway = try Gateway(configuration: Self.shared)
            let port = try gateway.sharedPort
            let capture = try Capture(gateway.sessionDescription)
            let strangers = try ProgramRun([
                "/usr/bin/python3", Workspace.package.appending(path: "Tests/Interop/Clients/strangers.py").path, "127.0.0.1",
                "\(port)", "1000",
            ])
            expect("they stand", within: .seconds(60)) { strangers.output.contains("standing") }
            let encoder = try Self.encoder(gateway)
            #expect(encoder.status(within: .seconds(60)) == 0, "\(encoder.output)")
            capture.finish()
            expect("its end in the log", within: .seconds(60)) { !gateway.logged("rtmp_publish_ended").isEmpty }
            try MediaFile.expectFrames(of: Clip.p30.file(), in: capture.file.path, saidGoodbye: gateway.heardGoodbyes)
            for number in 0..<5 {
                #expect(try gateway.page("watch/x", at: "https://127.0.0.1:\(port)") == "200", "page \(number)")
            }
            try expect("each is counted", within: .seconds(60)) {
                let metrics = try gateway.metrics()
                return metrics.sum("stagedoor_shared_closed_total", "reason=\"unknown\"") > 1_000
                    && metrics.sum("stagedoor_shared_closed_total", "reason=\"tls\"") > 100
                    && metrics.sum("stagedoor_shared_closed_total", "reason=\"silent\"") > 100
                    && metrics.sum("stagedoor_shared_connections_total", "kind=\"ice\"") > 100
            }
            #expect(try gateway.metrics().sum("stagedoor_shared_connections_total", "kind=\"rtmps\"") == 1)
            #expect(strangers.isRunning, "\(strangers.output.suffix(500))")
            strangers.kill()
            gateway.stop()
        }

        /// In a network of their own, in which no datagram gets to the media port, and ICE-TCP has no other port.
        @Test(.timeLimit(.minutes(10)), .enabled(if: Privileges.makesNetworks, "makes a network namespace, which needs root"))
        func `Chromium publishes with the platform's token over HTTPS and ICE-TCP alone`() throws {
            let network = try NetworkNamespace()
            let gateway = try Gateway(
                configuration: "listen: {shared: \"\(network.address):0\"}", isMediaTCP: false, in: network)
            try network.prohibitUDP(to: gateway.mediaPort)
            let port = try gateway.sharedPort
            let token = try gateway.participantToken()
            let capture = try gateway.captureFirstWHIP()
            let client = try ProgramRun(
                network.command([
                    WHIP.python, WHIP.script("browser_whip.py"), WHIP.untilTold, "https://\(network.address):\(port)/publish",
                    token, "pattern",
                ]))
            try gateway.awaitWHIP(pictures: 100, sounds: 100, from: client)
            client.send(SIGUSR2)
            #expect(client.status(within: .browserScript) == 0, "\(client.output) \(gateway.log.suffix(2_000))")
            let metrics = try gateway.metrics()
            capture.finish()
            #expect(metrics.sum("stagedoor_media_datagrams_total") == 0, "by UDP")
            #expect(metrics.sum("stagedoor_shared_connections_total", "kind=\"ice\"") >= 1)
            #expect(metrics.sum("stagedoor_shared_connections_total", "kind=\"https\"") >= 1)
            #expect(metrics.sum("stagedoor_shared_closed_total", "reason=\"unknown\"") == 0)
            #expect(metrics.sum("stagedoor_rx_packets_total") > 100)
            #expect(client.output.contains("stopped 200"), "\(client.output)")
            let pictures = try MediaFile.frameDigests(capture.file.path).count
            #expect(pictures > 50, "\(client.output) \(capture.output)")
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a client that asks for HTTP by ALPN is HTTP's before it has said a word`() throws {
            let gateway = try Gateway(configuration: Self.shared)
            let hello = """
                import socket, ssl, sys, time
                context = ssl._create_unverified_context()
                context.set_alpn_protocols(['http/1.1'])
                stream = context.wrap_socket(socket.create_connection(('127.0.0.1', int(sys.argv[1]))))
                print(stream.selected_alpn_protocol(), flush=True)
                time.sleep(60)
                """
            let client = try ProgramRun(["/usr/bin/python3", "-c", hello, "\(try gateway.sharedPort)"])
            try expect("it is known", within: .seconds(60)) {
                try gateway.metrics().sum("stagedoor_shared_connections_total", "kind=\"https\"") == 1
            }
            // The handshake may be over here before it is there.
            expect("it knows so, too", within: .seconds(60)) { client.output == "http/1.1\n" }
            client.kill()
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a trusted balancer's PROXY header names encoder and browser there too`() throws {
            let gateway = try Gateway(configuration: "\(Self.shared)\ntrustedProxies: [\"127.0.0.0/8\"]")
            let proxy = try Proxy(to: "https://127.0.0.1:\(try gateway.sharedPort)", for: "203.0.113.9")
            let encoder = try Self.encoder(gateway, at: proxy.url.replacing("https:", with: "rtmps:"), seconds: 2)
            #expect(encoder.status(within: .seconds(60)) == 0, "\(encoder.output)")
            expect("RTMPS's source", within: .seconds(60)) { gateway.log.contains("\"source\":\"203.0.113.9:40000\"") }
            let publisher = try ProgramRun([
                try Workspace.program("stagedoor-bench"), "whip", "\(proxy.url)/whip", "--ca",
                try #require(gateway.quickstart.caCertificate), "--token", try #require(gateway.quickstart.whipToken), "--flv",
                try Clip.p30.file(), "--seconds", "1",
            ])
            #expect(publisher.status(within: .seconds(60)) == 0, "\(publisher.output)")
            expect("WHIP's source", within: .seconds(60)) { gateway.log.contains("\"remote\":\"203.0.113.9:40000\"") }
            let direct = try Self.encoder(gateway, seconds: 2)
            #expect(try #require(direct.status(within: .seconds(60))) != 0, "RTMP from a balancer must have it")
            #expect(try gateway.metrics().sum("stagedoor_shared_closed_total", "reason=\"no_proxy_header\"") == 1)
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a new process gets the port, and streams that came in by it go on`() throws {
            let gateway = try Gateway(configuration: Self.shared)
            let encoder = try Self.encoder(gateway, clip: .long, seconds: Encoder.untilStopped)
            expect("a live stream", within: .seconds(60)) { gateway.log.contains("\"rtmp_publish_granted\"") }
            let port = try gateway.sharedPort
            let successor = try Successor(of: gateway)
            try #require(successor.tookOver(within: .seconds(60)), "\(successor.log)\n\(gateway.log.suffix(2_000))")
            #expect(try gateway.page("watch/x", at: "https://127.0.0.1:\(port)") == "200")
            let publisher = try ProgramRun([
                try Workspace.program("stagedoor-bench"), "whip", "https://127.0.0.1:\(port)/whip", "--ca",
                try #require(gateway.quickstart.caCertificate), "--token", try #require(gateway.quickstart.whipToken), "--flv",
                try Clip.p30.file(), "--seconds", "1",
            ])
            #expect(publisher.status(within: .seconds(60)) == 0, "\(publisher.output)")
            #expect(successor.log.contains("\"whip_posted\"") && !gateway.log.contains("\"whip_posted\""))
            #expect(encoder.isRunning && gateway.isRunning, "\(encoder.output)")
            encoder.interrupt()
            expect("the old process ends", within: .seconds(60)) { !gateway.isRunning }
            let newer = try Self.encoder(gateway, seconds: 2)
            #expect(newer.status(within: .seconds(60)) == 0, "\(newer.output)")
            #expect(successor.log.contains("\"rtmp_publish_granted\""))
            successor.stop()
            gateway.stop()
        }

        /// ffmpeg by RTMPS, which verifies the certificate.
        private static func encoder(
            _ gateway: Gateway, at url: String? = nil, clip: Clip = .p30, seconds: Int? = nil
        ) throws -> ProgramRun {
            let quickstart = gateway.quickstart
            let server = try url.map { "\($0)/app" } ?? #require(quickstart.rtmpsURL)
            return try Encoder.ffmpeg(
                clip, to: "\(server)/\(quickstart.streamKey)",
                options: ["-tls_verify", "1", "-ca_file", try #require(quickstart.caCertificate)], seconds: seconds)
        }
    }
}

extension Gateway {
    /// Quickstart hands it out for RTMPS.
    fileprivate var sharedPort: UInt16 {
        get throws {
            let rtmps = try #require(quickstart.rtmpsURL.flatMap { URL(string: $0)?.port })
            try #require(rtmps != URL(string: quickstart.rtmpURL)?.port, "RTMP has another one")
            return try #require(UInt16(exactly: rtmps))
        }
    }

    /// One that the AWS CLI has made, for quickstart's stage.
    fileprivate func participantToken() throws -> String {
        struct Made: Decodable {
            struct Token: Decodable { var token: String }
            var participantToken: Token
        }
        let options = ["--stage-arn", try #require(quickstart.stageArn), "--capabilities", "PUBLISH"]
        return try JSONDecoder().decode(Made.self, from: Data(aws("create-participant-token", options).utf8))
            .participantToken.token
    }
}
