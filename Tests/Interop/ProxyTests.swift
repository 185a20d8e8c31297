import Foundation
import Testing

extension Interop {
    /// Balancers in front: whom they speak for is believed of those we trust, and of nobody else.
    @Suite struct Proxies {
        private static let encoder = "203.0.113.9"

        @Test(.timeLimit(.minutes(10)))
        func `a trusted balancer's PROXY header names the encoder on every listener`() throws {
            let gateway = try Gateway(configuration: "trustedProxies: [\"127.0.0.0/8\"]")
            let rtmp = try Proxy(to: gateway.quickstart.rtmpURL, for: Self.encoder)
            let encoder = try Encoder.ffmpeg(.p30, to: "\(rtmp.url)/\(gateway.quickstart.streamKey)", seconds: 2)
            #expect(encoder.status(within: .seconds(60)) == 0)
            expect("RTMP's source", within: .seconds(60)) { gateway.log.contains("\"source\":\"\(Self.encoder):40000\"") }

            let whip = try Proxy(to: try #require(gateway.quickstart.whipURL), for: Self.encoder)
            let publisher = try ProgramRun([
                try Workspace.program("stagedoor-bench"), "whip", whip.url, "--token", try #require(gateway.quickstart.whipToken),
                "--flv", try Clip.p30.file(), "--seconds", "1",
            ])
            #expect(publisher.status(within: .seconds(60)) == 0, "\(publisher.output)")
            expect("the log names the encoder", within: .seconds(60)) {
                gateway.log.contains("\"remote\":\"\(Self.encoder):40000\"")
            }

            let admin = try Proxy(to: try #require(gateway.quickstart.adminURL), for: Self.encoder)
            #expect(
                try ProgramRun.output(of: ["curl", "-sS", "--max-time", "50", "\(admin.url)/readyz"], within: .seconds(60))
                    .contains("ok"))
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `X-Forwarded-For counts from a trusted proxy only`() throws {
            for isTrusted in [true, false] {
                let gateway = try Gateway(configuration: isTrusted ? "trustedProxies: [\"127.0.0.1/32\"]" : "")
                _ = try? ProgramRun.output(
                    of: [
                        "curl", "-sS", "--max-time", "50", "-X", "POST", "-H", "Content-Type: application/sdp",
                        "-H", "X-Forwarded-For: \(Self.encoder)", "-H",
                        "Authorization: Bearer \(try #require(gateway.quickstart.whipToken))",
                        "--data-binary", "@\(try Self.offer())", try #require(gateway.quickstart.whipURL),
                    ], within: .seconds(60))
                expect("a session", within: .seconds(60)) { gateway.log.contains("\"whip_posted\"") }
                #expect(gateway.log.contains("\"remote\":\"\(Self.encoder)") == isTrusted)
                gateway.stop()
            }
        }

        @Test(.timeLimit(.minutes(10)))
        func `nobody else's PROXY header is believed`() throws {
            let gateway = try Gateway()
            let rtmp = try Proxy(to: gateway.quickstart.rtmpURL, for: Self.encoder)
            let encoder = try Encoder.ffmpeg(.p30, to: "\(rtmp.url)/\(gateway.quickstart.streamKey)", seconds: 2)
            #expect(try #require(encoder.status(within: .seconds(60))) != 0)
            #expect(!gateway.log.contains(Self.encoder))
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a hall of encoders behind one NAT gets in, once one of them has published`() throws {
            let gateway = try Gateway(
                configuration: "trustedProxies: [\"127.0.0.0/8\"]\nlimits: {connectionsPerAddress: 4}")
            let port = try #require(URLComponents(string: gateway.quickstart.rtmpURL)?.port.flatMap(UInt16.init(exactly:)))
            func come(_ count: Int = 20, from address: [UInt8]) throws -> [RawConnection] {
                let connections = try (0..<count).map { _ in try RawConnection(port: port) }
                for connection in connections { connection.send(Self.header(from: address) + RTMPBytes.c0c1) }
                return connections
            }
            func refused() -> Int { gateway.strangers("rtmp_too_many_from_address") }
            let first = try come(from: [203, 0, 113, 9])
            expect("strangers have their share", within: .seconds(60)) { refused() == 16 }
            let rtmp = try Proxy(to: gateway.quickstart.rtmpURL, for: Self.encoder)
            for connection in first { connection.close() }
            // Until the gateway has seen them go, an encoder is one too many.
            try expect("there is room again", within: .seconds(60)) {
                try come(1, from: [203, 0, 113, 9])[0].receives(1 + 2 * 1_536, within: .seconds(1))
            }
            // Those that came too soon are told in lines of their own, or in one a second later.
            letPass(.seconds(3))
            let before = refused()
            let encoder = try Encoder.ffmpeg(
                .p30, to: "\(rtmp.url)/\(gateway.quickstart.streamKey)", seconds: Encoder.untilStopped)
            expect("a stream from there", within: .seconds(60)) { gateway.log.contains("\"rtmp_publish_granted\"") }
            #expect(try come(from: [203, 0, 113, 9]).allSatisfy { $0.receives(1 + 2 * 1_536, within: .seconds(60)) })
            let others = try come(from: [203, 0, 113, 77])
            expect("strangers stay strangers", within: .seconds(60)) { refused() >= before + 16 }
            for connection in others { connection.close() }
            encoder.interrupt()
            gateway.stop()
        }

        /// A PROXY header of version 2, TCP over IPv4.
        private static func header(from address: [UInt8]) -> [UInt8] {
            let signature: [UInt8] = [13, 10, 13, 10, 0, 13, 10, 81, 85, 73, 84, 10]
            return signature + [0x21, 0x11, 0, 12] + address + [127, 0, 0, 1, 0x9C, 0x40, 0x07, 0x8F]
        }

        /// What an encoder offers who never connects.
        private static func offer() throws -> String {
            let file = Workspace.temporaryFile(suffix: ".sdp")
            let fingerprint = (0..<32).map { _ in "AB" }.joined(separator: ":")
            try """
            v=0\r
            o=- 1 1 IN IP4 127.0.0.1\r
            s=-\r
            t=0 0\r
            a=group:BUNDLE 0\r
            m=video 9 UDP/TLS/RTP/SAVPF 96\r
            c=IN IP4 0.0.0.0\r
            a=mid:0\r
            a=sendonly\r
            a=rtcp-mux\r
            a=ice-ufrag:abcd\r
            a=ice-pwd:abcdefghijklmnopqrstuvwx\r
            a=fingerprint:sha-256 \(fingerprint)\r
            a=setup:actpass\r
            a=rtpmap:96 H264/90000\r
            a=fmtp:96 packetization-mode=1;profile-level-id=42e01f;level-asymmetry-allowed=1\r

            """.write(to: file, atomically: true, encoding: .utf8)
            return file.path
        }
    }
}
