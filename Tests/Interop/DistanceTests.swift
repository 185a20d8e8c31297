import Foundation
import Testing

extension Interop {
    /// Encoders far away: delay, loss and cuts between them and the real program.
    @Suite struct Distance {
        /// One way; a record after its handshake makes ffmpeg's socket blocking, and it crawls from then on.
        @Test(.timeLimit(.minutes(10)), arguments: [0, 100, 150, 300])
        func `a passive encoder hears no DTLS after its handshake, however long the way`(milliseconds: Int) throws {
            let path = try DistantPath(delay: .milliseconds(milliseconds))
            let gateway = try Gateway(configuration: path.advertisement)
            try path.lead(udpTo: gateway.mediaPort)
            var told: Passive?
            // Where the machine stood still for a second a repeated flight is right; three times it is not the machine.
            for _ in 0..<3 where told?.strays != 0 {
                if let told { print("\(milliseconds) ms away, DTLS after the handshake: \(told)") }
                let client = try Self.passive(seconds: 4, at: gateway)
                #expect(client.status(within: .seconds(60)) == 0, "\(client.output) \(gateway.log.suffix(2_000))")
                told = try JSONDecoder().decode(Passive.self, from: Data(client.lastLine.utf8))
            }
            let last = try #require(told)
            #expect(last.strays == 0, "\(last)")
            #expect(try gateway.endedSessions().first?.media.video.packets ?? 0 >= last.frames)
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `an encoder that reads only NACKs that stand alone recovers what the way loses`() throws {
            let path = try DistantPath(delay: .milliseconds(20), seed: 4)
            let gateway = try Gateway(configuration: path.advertisement)
            try path.lead(udpTo: gateway.mediaPort)
            let client = try Self.passive(seconds: Encoder.untilStopped, at: gateway)
            expect("the encoder is connected", within: .seconds(60)) { client.output.contains("connected") }
            try path.tell("loss 5 up")
            letPass(.seconds(6))
            try path.tell("loss 0")
            // The last requests are answered meanwhile.
            try Self.awaitMedia(60, at: gateway)
            client.send(SIGUSR2)
            #expect(client.status(within: .seconds(60)) == 0, "\(client.output) \(gateway.log.suffix(2_000))")
            let (dropped, media) = (try path.counts.up.dropped, try #require(try gateway.endedSessions().first).media.video)
            print("ffmpeg-shaped: \(dropped) dropped, \(media)")
            // A busy machine brings some repetitions too late.
            #expect(media.recovered > 0 && media.lost <= (Soak.isAsked ? 1 : dropped / 2), "\(media) of \(dropped) dropped")
            gateway.stop()
        }

        /// Each request is answered, however many there are for one packet.
        @Test(.timeLimit(.minutes(10)))
        func `far away an encoder is not asked again before its answer can have come`() throws {
            let path = try DistantPath(delay: .milliseconds(90), seed: 4)
            let gateway = try Gateway(configuration: path.advertisement)
            try path.lead(udpTo: gateway.mediaPort)
            let client = try Self.passive(seconds: Encoder.untilStopped, at: gateway)
            expect("the encoder is connected", within: .seconds(60)) { client.output.contains("connected") }
            try path.tell("loss 5 up")
            letPass(.seconds(6))
            try path.tell("loss 0")
            try Self.awaitMedia(60, at: gateway)
            client.send(SIGUSR2)
            #expect(client.status(within: .seconds(60)) == 0, "\(client.output) \(gateway.log.suffix(2_000))")
            let asked = try gateway.metrics().sum("stagedoor_nack_sent_total")
            let media = try #require(try gateway.endedSessions().first).media.video
            print("180 ms away: asked \(asked) times, \(media)")
            // Every 100 ms, as without any idea of the way, it would be twice and more.
            #expect(media.recovered > 0 && asked <= 1.7 * Double(media.recovered + media.lost), "\(asked) \(media)")
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `an outage of 12 s ends no publish`() throws {
            let path = try DistantPath()
            let gateway = try Gateway(configuration: path.advertisement)
            try path.lead(udpTo: gateway.mediaPort)
            let client = try OBSShaped.publish(to: gateway, seconds: Encoder.untilStopped)
            try Self.awaitMedia(200, at: gateway)
            try path.tell("cut")
            letPass(.seconds(12))
            try path.tell("heal")
            try Self.awaitMedia(200, at: gateway)
            client.send(SIGUSR2)
            #expect(client.status(within: .seconds(60)) == 0, "\(client.output) \(gateway.log.suffix(2_000))")
            #expect(gateway.log.split(separator: "\n").count { $0.contains("\"whip_ended\"") } == 1)
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a publisher that comes back after its session ended by silence is told to connect anew`() throws {
            let path = try DistantPath()
            let gateway = try Gateway(configuration: "whip: {consentTimeout: 15s}\n" + path.advertisement)
            try path.lead(udpTo: gateway.mediaPort)
            let client = try OBSShaped.publish(to: gateway, seconds: Encoder.untilStopped)
            try Self.awaitMedia(200, at: gateway)
            try path.tell("cut")
            expect("the session ends", within: .seconds(60)) { gateway.log.contains("\"whip_ended\"") }
            #expect(client.isRunning, "it knows nothing of that")
            try path.tell("heal")
            // Its DELETE is of a session that is no more.
            #expect(client.status(within: .seconds(60)) != nil, "\(client.output)")
            #expect(client.lastLine.contains("\"closed\": true"), "\(client.output)")
            gateway.stop()
        }

        /// So many packets more than there are now.
        private static func awaitMedia(_ count: Double, at gateway: Gateway) throws {
            let before = try gateway.metrics().sum("stagedoor_rx_packets_total")
            try expect("media flows", within: .seconds(60)) {
                try gateway.metrics().sum("stagedoor_rx_packets_total") > before + count
            }
        }

        private static func passive(seconds: Int, at gateway: Gateway) throws -> ProgramRun {
            let (url, token) = try WHIP.endpoint(gateway)
            return try WHIP.client("whip_ffmpeg.py", ["\(seconds)", url, token])
        }

        /// What the passive client says it did.
        private struct Passive: Decodable {
            var frames: Int
            var strays: Int
        }
    }
}
