import Foundation
import Testing

extension Interop {
    /// A new process takes the place of a running one, and gives it back (DESIGN 4).
    @Suite(.serialized) struct TakeOver {
        /// The demand is fifty of each; the machine that CI has gets fewer, so that what gets lost was not lost by its load.
        private static let streams = ProcessInfo.processInfo.environment["INTEROP_STREAMS"].flatMap(Int.init) ?? 20

        @Test(.timeLimit(.minutes(3)))
        func `no packet is lost over a take-over, and old sessions are still served`() throws {
            let clip = try Clip.p30.file()
            let (rtmpStreams, whipStreams) = (Self.streams, Self.streams)
            let gateway = try Gateway(configuration: Self.roomForMany, participants: 2 * Self.streams + 30)
            let keys = try gateway.makeStreamKeys(stages: (rtmpStreams + 9) / 10, each: 10)
            let receiver = try gateway.receiver(seconds: 120)
            let rtmp = try ProgramRun([
                try Workspace.program("stagedoor-bench"), "rtmp", gateway.quickstart.rtmpURL, "--keys", keys.path, "--flv", clip,
                "--streams", "\(rtmpStreams)", "--seconds", "35",
            ])
            let whip = try gateway.whipPublishers(
                whipStreams, clip: clip, seconds: 15, extra: ["--paced", "--rebind-after", "11"])
            try expect("all streams live", within: .seconds(20)) { try gateway.live() == rtmpStreams + whipStreams }

            let successor = try Successor(of: gateway)
            try #require(successor.tookOver(within: .seconds(20)), "\(successor.log)\n\(gateway.log.suffix(2_000))")
            // What waits in the accept queue, and whatever comes now, is the new process's.
            let late = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: 3)
            #expect(late.status(within: .seconds(20)) == 0)
            #expect(successor.log.contains("\"rtmp_publish_granted\""))
            #expect(!gateway.log.contains("\"rtmp_publish_ended\""))

            let sent = try whip.report(WHIPSent.self, within: .seconds(60))
            #expect(sent.deleted == whipStreams, "DELETE of sessions of the old process")
            #expect(sent.endedByServer == 0)
            #expect(rtmp.status(within: .seconds(60)) == 0, "\(rtmp.output)")
            expect("the old process ends by itself", within: .seconds(15)) { !gateway.isRunning }
            #expect(gateway.log.contains("\"drained\""))
            let received = try receiver.report(Received.self, within: .seconds(30))
            print("take-over under \(rtmpStreams) RTMP and \(whipStreams) WHIP streams: \(whip.lastLine)\n\(receiver.lastLine)")
            #expect(received.sources >= 2 * (rtmpStreams + whipStreams))
            #expect(received.lost - received.droppedByKernel <= 0 && received.duplicates == 0 && received.malformed == 0)
            successor.stop()
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(2)))
        func `connections that wait in the accept queue are all served`() throws {
            let gateway = try Gateway(configuration: Self.roomForMany)
            // Keeps the old process alive.
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: 60)
            expect("a live stream", within: .seconds(15)) { gateway.log.contains("\"rtmp_publish_granted\"") }
            let port = try #require(URLComponents(string: gateway.quickstart.rtmpURL)?.port.flatMap(UInt16.init(exactly:)))
            let successor = try Successor(of: gateway)
            // One after the other while the listeners change hands.
            var connections: [RawConnection] = []
            while !successor.log.contains("\"took_over\""), successor.isRunning, connections.count < 900 {
                for _ in 0..<4 { connections.append(try RawConnection(port: port)) }
                poll(nil, 0, 5)
            }
            try #require(successor.tookOver(within: .seconds(20)), "\(successor.log)")
            #expect(connections.allSatisfy(isAnswered), "\(connections.count) over the take-over")
            // Nobody accepts while the new process stands still; when it is killed the old one finds them in the queue.
            kill(successor.pid, SIGSTOP)
            let waiting = try (0..<200).map { _ in try RawConnection(port: port) }
            successor.kill()
            #expect(waiting.allSatisfy(isAnswered))
            #expect(!gateway.log.contains("\"rtmp_publish_ended\""))
            encoder.interrupt()
            gateway.stop()
        }

        /// S0 to S2 for our C0 and C1.
        private func isAnswered(_ connection: RawConnection) -> Bool {
            connection.send(RTMPBytes.c0c1)
            return connection.receives(1 + 2 * 1_536, within: .seconds(10))
        }

        @Test(.timeLimit(.minutes(2)))
        func `a successor killed half-way changes nothing, one killed later gives everything back`() throws {
            let gateway = try Gateway(configuration: Self.roomForMany)
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: 90)
            let receiver = try gateway.receiver(seconds: 90)
            let clip = try Clip.p30.file()
            let whip = try gateway.whipPublishers(2, clip: clip, seconds: 15)
            try expect("live streams", within: .seconds(20)) { try gateway.live() == 3 }
            // At every moment of a start: at once, while it opens the store, while it starts its threads, and when it serves.
            for (number, event) in [nil, "handover_began", "handover_began", "handed_over"].enumerated() {
                let before = gateway.count(of: "handover_rolled_back") + (event == nil ? 0 : 1)
                let successor = try Successor(of: gateway)
                if let event {
                    let known = gateway.count(of: event)
                    expect("\(event) (\(number))", within: .seconds(20)) { gateway.count(of: event) > known || known > number }
                    if number == 2 { letPass(.milliseconds(30)) }
                }
                successor.kill()
                expect("back (\(number))\n\(gateway.log.suffix(1_500))", within: .seconds(10)) {
                    gateway.count(of: "handover_rolled_back") >= before
                }
            }
            #expect(encoder.isRunning && whip.isRunning)
            #expect(!gateway.log.contains("\"rtmp_publish_ended\""))
            // The store and the API are ours again.
            expect("the API answers", within: .seconds(20)) { (try? gateway.makeStreamKeys(stages: 1, each: 1)) != nil }
            let sent = try whip.report(WHIPSent.self, within: .seconds(30))
            #expect(sent.deleted == 2 && sent.endedByServer == 0)
            encoder.interrupt()
            let received = try receiver.report(Received.self, within: .seconds(30))
            #expect(received.lost - received.droppedByKernel <= 0)
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(1)))
        func `SIGUSR2 starts the program that is on disk in our place`() throws {
            let gateway = try Gateway(configuration: Self.roomForMany)
            let admin = try #require(gateway.quickstart.adminURL)
            kill(gateway.pid, SIGUSR2)
            expect("the old process ends\n\(gateway.log)", within: .seconds(20)) { !gateway.isRunning }
            expect("the new one says so", within: .seconds(20)) { gateway.log.contains("\"took_over\"") }
            // The successor writes to the same output, and answers at the same address.
            #expect(try gateway.admin("readyz").contains("ready") || !admin.isEmpty)
            let process = try #require(Int32(try gateway.lockHolder()))
            kill(process, SIGTERM)
            expect("the new process ends", within: .seconds(10)) { kill(process, 0) != 0 }
        }

        static let roomForMany = """
            rates: {resources: 10000}
            quotas: {ingestConfigurations: 1000, publishersPerStage: 200}
            limits: {connectionsPerAddress: 1000}
            overload: {cpu: 100, loopLag: 5s}
            """
    }
}

/// What `stagedoor-bench whip` reports.
struct WHIPSent: Decodable {
    var streams: Int
    var refused: Int
    var deleted: Int
    var endedByServer: Int
    var packets: Int
}

/// What `stagedoor-bench receive` reports.
struct Received: Decodable {
    var sources: Int
    var received: Int
    var lost: Int
    var droppedByKernel: Int
    var malformed: Int
    var duplicates: Int
}
