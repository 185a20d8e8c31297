import Foundation
import TestSupport
import Testing

extension Interop {
    /// One UDP port for all sessions and workers, what happens there beside them, and what carries media where UDP does not.
    @Suite struct MediaPort {
        @Test(.timeLimit(.minutes(10)))
        func `16 publishers are spread over four workers, each with one owner`() throws {
            let gateway = try Gateway(configuration: "workers: {count: 4}", participants: 20)
            let streams = try WatchedStreams(.whip, 16, at: gateway)
            letPass(.seconds(4))
            let metrics = try gateway.metrics()
            let shares = (0..<4).map { metrics.sum("stagedoor_media_datagrams_total", "loop=\"worker-\($0)\"") }
            print("datagrams of each worker: \(shares)")
            #expect(metrics.sum("stagedoor_sessions", "protocol=\"whip\"", "state=\"live\"") == 16)
            #expect(shares.count { $0 > shares.reduce(0, +) / 50 } >= 3)
            // What overflows where a worker gets no CPU is asked for again.
            if Soak.isAsked { #expect(metrics.sum("stagedoor_foreign_dropped_total") == 0) }
            try streams.expectWhole()
            #expect(try gateway.metrics().sum("stagedoor_sessions") == 0)
            gateway.stop()
        }

        /// Datagrams of neither STUN, DTLS nor SRTP, and of all three by their first byte.
        @Test(.timeLimit(.minutes(10)))
        func `garbage datagrams are told apart and counted, and streams go on`() throws {
            let gateway = try Gateway(participants: 4)
            let streams = try WatchedStreams(.whip, 2, at: gateway)
            letPass(.seconds(2))
            try streams.expectWhole(dropped: gateway.takeGarbage(perSecond: 2_000, seconds: 2).dropped)
            gateway.stop()
        }

        /// Chromium and the gateway in a network of their own, in which no datagram gets to the media port.
        @Test(.timeLimit(.minutes(10)), .enabled(if: Privileges.makesNetworks, "makes a network namespace, which needs root"))
        func `Chromium's media comes by ICE-TCP where UDP is blocked`() throws {
            let network = try NetworkNamespace()
            let gateway = try Gateway(in: network)
            try network.prohibitUDP(to: gateway.mediaPort)
            let (url, token) = try WHIP.endpoint(gateway)
            let page = url.replacing(/\/whip$/, with: "/publish")
            let capture = try gateway.captureFirstWHIP()
            let script = WHIP.script("browser_whip.py")
            let client = try ProgramRun(network.command([WHIP.python, script, WHIP.untilTold, page, token, "pattern"]))
            try gateway.awaitWHIP(pictures: 100, sounds: 100, from: client)
            client.send(SIGUSR2)
            #expect(client.status(within: .browserScript) == 0, "\(client.output) \(gateway.log.suffix(2_000))")
            let metrics = try gateway.metrics()
            capture.finish()
            #expect(metrics.sum("stagedoor_media_datagrams_total") == 0, "by UDP")
            #expect(metrics.sum("stagedoor_rx_packets_total") > 100)
            let pictures = try MediaFile.frameDigests(capture.file.path).count
            #expect(pictures > 50, "\(client.output) \(capture.output)")
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)), .enabled(if: Loopback.hasIPv6, "this machine has no ::1"))
        func `WHIP goes all the way over IPv6`() throws {
            let gateway = try Gateway(address: "[::1]")
            let streams = try WatchedStreams(.whip, 2, at: gateway)
            letPass(.seconds(3))
            try streams.expectWhole()
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)), .enabled(if: Loopback.hasIPv6, "this machine has no ::1"))
        func `RTMP goes all the way over IPv6`() throws {
            let gateway = try Gateway(address: "[::1]")
            let capture = try Capture(gateway.sessionDescription)
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL)
            #expect(encoder.status(within: .seconds(60)) == 0, "\(encoder.output)")
            capture.finish()
            gateway.stop()
            try MediaFile.expectFrames(of: Clip.p30.file(), in: capture.file.path, saidGoodbye: gateway.heardGoodbyes)
        }
    }
}
