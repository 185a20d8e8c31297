import Foundation
import Testing

extension Interop {
    /// Going away without hurting anybody.
    @Suite struct Drain {
        @Test(.timeLimit(.minutes(10)), arguments: [SIGTERM, SIGINT])
        func `quickstart with a live stream ends within about a second`(signal: Int32) throws {
            let gateway = try Gateway()
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            expect("a live stream", within: .seconds(60)) { gateway.log.contains("\"rtmp_publish_granted\"") }
            kill(gateway.pid, signal)
            #expect(holds(within: .seconds(60)) { !gateway.isRunning }, "\(gateway.log.suffix(2_000))")
            #expect(encoder.status(within: .seconds(60)) != nil)
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `with nothing live it ends at once, whatever the grace`() throws {
            // Longer than this test waits.
            let gateway = try Gateway(configuration: "drain: {grace: 5m, timeout: 1h}")
            kill(gateway.pid, SIGTERM)
            #expect(holds(within: .seconds(60)) { !gateway.isRunning })
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a live stream goes on, new ones are refused, and the deadline ends it`() throws {
            let gateway = try Gateway(configuration: "drain: {grace: 0s, timeout: 30s, closesPerSecond: 1}")
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            expect("a live stream", within: .seconds(60)) { gateway.log.contains("\"rtmp_publish_granted\"") }
            let begin = ContinuousClock.now
            kill(gateway.pid, SIGTERM)
            try expect("not ready", within: .seconds(60)) { try gateway.admin("readyz").contains("draining") }
            let late = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL)
            #expect(try #require(late.status(within: .seconds(60))) != 0)
            expect("the log has the refusal", within: .seconds(60)) { gateway.log.contains("SD-1070") }
            #expect(encoder.isRunning)
            #expect(holds(within: .seconds(60)) { !gateway.isRunning }, "\(gateway.log.suffix(2_000))")
            #expect(ContinuousClock.now - begin > .seconds(29))
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `an encoder that announced it is asked to connect anew, one that did not is left alone`() throws {
            let gateway = try Gateway(configuration: "drain: {grace: 0s, timeout: 10s}")
            let port = try #require(URLComponents(string: gateway.quickstart.rtmpURL)?.port.flatMap(UInt16.init(exactly:)))
            let keys = try String(contentsOf: gateway.makeStreamKeys(stages: 1, each: 2), encoding: .utf8)
            let connections = try keys.split(whereSeparator: \.isWhitespace).enumerated().map { index, key in
                let connection = try RawConnection(port: port)
                // Reconnect is the first bit of capsEx (Enhanced RTMP v2).
                let capabilities = index == 0 ? RTMPBytes.property("capsEx", RTMPBytes.number(1)) : []
                connection.send(RTMPBytes.handshake + RTMPBytes.connect(capabilities) + RTMPBytes.publish(String(key)))
                return connection
            }
            expect("two publishes\n\(gateway.log)", within: .seconds(60)) { gateway.count(of: "rtmp_publish_granted") == 2 }
            kill(gateway.pid, SIGTERM)
            // To the end of each, which the drain's deadline brings.
            let asked = connections.map { String(decoding: $0.ending(within: .seconds(60)).1, as: UTF8.self) }
            #expect(asked[0].contains("NetConnection.Connect.ReconnectRequest"))
            #expect(asked[1].contains("NetStream.Publish.Start") && !asked[1].contains("ReconnectRequest"))
            gateway.kill()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a second signal ends it at once`() throws {
            let gateway = try Gateway(configuration: "drain: {grace: 60s, timeout: 1h}")
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            expect("a live stream", within: .seconds(60)) { gateway.log.contains("\"rtmp_publish_granted\"") }
            kill(gateway.pid, SIGTERM)
            expect("a drain", within: .seconds(60)) { gateway.log.contains("\"drain_started\"") }
            kill(gateway.pid, SIGTERM)
            #expect(holds(within: .seconds(60)) { !gateway.isRunning })
            gateway.stop()
            encoder.kill()
        }
    }
}
