import Foundation
import Testing

extension Interop {
    /// A new process takes the place of a running one, and gives it back (docs/design.md 4.6).
    @Suite struct TakeOver {
        /// The demand is fifty of each; the machine that CI has gets fewer, so that what gets lost was not lost by its load.
        private static let streams = ProcessInfo.processInfo.environment["INTEROP_STREAMS"].flatMap(Int.init) ?? 20

        @Test(.timeLimit(.minutes(10)))
        func `no packet is lost over a take-over and back, and old sessions are still served`() throws {
            let clip = try Clip.p30.file()
            let (count, few) = (Self.streams, Self.streams / 4 + 1)
            let gateway = try Gateway(configuration: Self.roomForMany, participants: 2 * (count + few) + 40)
            let keys = try gateway.makeStreamKeys(stages: (count + few + 9) / 10, each: 10)
            let receiver = try gateway.receiver()
            let old = try Streams(count, from: 0, of: keys, clip: clip, to: gateway)
            try expect("all streams live", within: .seconds(300)) { try gateway.live() == 2 * count }

            let second = try Successor(of: gateway)
            try #require(second.tookOver(within: .seconds(60)), "\(second.log)\n\(gateway.log.suffix(2_000))")
            // What waits in the accept queue, and whatever comes now, is the new process's.
            try publishes(to: gateway, second)
            let newer = try Streams(few, from: count, of: keys, clip: clip, to: gateway)
            try expect("new streams on the new process", within: .seconds(60)) { try gateway.live() == 2 * few }

            // Back to the program before, which is a third process: both of the others still have streams.
            let third = try Successor(of: gateway)
            try #require(third.tookOver(within: .seconds(60)), "\(third.log)\n\(second.log.suffix(2_000))")
            #expect(third.log.contains("\"live\":\(2 * (count + few))"), "it knows of all of them")
            try publishes(to: gateway, third)
            let fourth = try Successor(of: gateway)
            expect("a fourth is refused", within: .seconds(60)) { !fourth.isRunning }
            #expect(fourth.log.contains("2 processes before this one still have streams"), "\(fourth.log)")

            old.whip.send(SIGUSR1)
            letPass(.seconds(2))
            let sent = try [old, newer].map { try $0.endWHIP() }
            #expect(
                sent.map(\.deleted) == [count, few],
                "DELETE of sessions of the old processes \(old.whip.lastLine) \(newer.whip.lastLine)")
            #expect(sent.map(\.endedByServer) == [0, 0])
            old.endRTMP()
            expect("the oldest process ends by itself", within: .seconds(60)) { !gateway.isRunning }
            #expect(second.isRunning)
            newer.endRTMP()
            expect("and the one after it", within: .seconds(60)) { !second.isRunning }
            for log in [gateway.log, second.log] { #expect(log.contains("\"drained\"")) }
            let dropped = gateway.droppedDatagrams
            receiver.send(SIGINT)
            let received = try receiver.report(Received.self, within: .seconds(60))
            print("take-over and back under \(count) RTMP and \(count) WHIP streams: \(sent)\n\(receiver.lastLine)")
            #expect(received.sources >= 4 * (count + few))
            // The newest process tells of what the kernel dropped at its own sockets.
            #expect(received.lost - received.droppedByKernel <= dropped && received.duplicates == 0 && received.malformed == 0)
            third.stop()
            gateway.stop()
        }

        /// Streams of both protocols that end when they are told to.
        private struct Streams {
            let rtmp: ProgramRun
            let whip: ProgramRun

            init(_ count: Int, from first: Int, of keys: URL, clip: String, to gateway: Gateway) throws {
                let own = try String(contentsOf: keys, encoding: .utf8).split(separator: "\n")[first..<(first + count)]
                let file = Workspace.temporaryFile(suffix: ".keys")
                try own.joined(separator: "\n").write(to: file, atomically: true, encoding: .utf8)
                rtmp = try ProgramRun([
                    try Workspace.program("stagedoor-bench"), "rtmp", gateway.quickstart.rtmpURL, "--keys", file.path,
                    "--flv", clip, "--seconds", "\(Encoder.untilStopped)",
                ])
                whip = try gateway.whipPublishers(count, clip: clip, seconds: Encoder.untilStopped, extra: ["--paced"])
            }

            func endWHIP() throws -> WHIPSent {
                whip.send(SIGINT)
                return try whip.report(WHIPSent.self, within: .seconds(60))
            }

            func endRTMP() {
                rtmp.send(SIGINT)
                #expect(rtmp.status(within: .seconds(60)) == 0, "\(rtmp.output)")
            }
        }

        /// A whole publish that reaches this process.
        private func publishes(to gateway: Gateway, _ process: Successor) throws {
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: 3)
            #expect(encoder.status(within: .seconds(60)) == 0)
            #expect(process.log.contains("\"rtmp_publish_granted\""))
        }

        @Test(.timeLimit(.minutes(10)))
        func `of three processes the last one may die, and the middle one takes the first one along`() throws {
            let gateway = try Gateway(configuration: Self.roomForMany)
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            let clip = try Clip.p30.file()
            let whip = try gateway.whipPublishers(2, clip: clip, seconds: Encoder.untilStopped)
            try expect("live streams", within: .seconds(60)) { try gateway.live() == 3 }
            let second = try Successor(of: gateway)
            try #require(second.tookOver(within: .seconds(60)), "\(second.log)")
            var third = try Successor(of: gateway)
            try #require(third.tookOver(within: .seconds(60)), "\(third.log)")
            third.kill()
            expect("the second one serves again", within: .seconds(60)) { second.log.contains("\"handover_rolled_back\"") }
            #expect(!gateway.log.contains("\"handover_rolled_back\"") && encoder.isRunning && whip.isRunning)

            third = try Successor(of: gateway)
            try #require(third.tookOver(within: .seconds(60)), "\(third.log)\n\(second.log)")
            second.kill()
            expect("nobody reads for the first one any more", within: .seconds(60)) { !gateway.isRunning }
            #expect(gateway.log.contains("\"abandoned\""))
            expect("its streams are over", within: .seconds(60)) { !encoder.isRunning }
            expect("the last one tells", within: .seconds(60)) { third.log.contains("\"predecessor_ended\"") }
            #expect(third.isRunning)
            let again = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: 3)
            #expect(again.status(within: .seconds(60)) == 0, "the key is free in the third one")
            third.stop()
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `connections that wait in the accept queue are all served`() throws {
            let gateway = try Gateway(configuration: Self.roomForMany)
            // Keeps the old process alive.
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            expect("a live stream", within: .seconds(60)) { gateway.log.contains("\"rtmp_publish_granted\"") }
            let port = try #require(URLComponents(string: gateway.quickstart.rtmpURL)?.port.flatMap(UInt16.init(exactly:)))
            let successor = try Successor(of: gateway)
            // One after the other while the listeners change hands.
            var connections: [RawConnection] = []
            while !successor.log.contains("\"took_over\""), successor.isRunning, connections.count < 600 {
                for _ in 0..<4 { connections.append(try beginning(port)) }
                poll(nil, 0, 5)
            }
            try #require(successor.tookOver(within: .seconds(60)), "\(successor.log)")
            #expect(connections.allSatisfy(isAnswered), "\(connections.count) over the take-over")
            // Nobody accepts while the new process stands still; when it is killed the old one finds them in the queue.
            kill(successor.pid, SIGSTOP)
            expect("every thread stands still", within: .seconds(60)) { successor.isStopped }
            let waiting = try (0..<200).map { _ in try beginning(port) }
            successor.kill()
            #expect(waiting.allSatisfy(isAnswered))
            #expect(!gateway.log.contains("\"rtmp_publish_ended\""))
            encoder.interrupt()
            gateway.stop()
        }

        /// Says C0 and C1 at once: who is silent for 5 s is cut off.
        private func beginning(_ port: UInt16) throws -> RawConnection {
            let connection = try RawConnection(port: port)
            connection.send(RTMPBytes.c0c1)
            return connection
        }

        /// S0 to S2.
        private func isAnswered(_ connection: RawConnection) -> Bool {
            connection.receives(1 + 2 * 1_536, within: .seconds(60))
        }

        @Test(.timeLimit(.minutes(10)))
        func `a successor killed half-way changes nothing, one killed later gives everything back`() throws {
            let gateway = try Gateway(configuration: Self.roomForMany)
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            let receiver = try gateway.receiver()
            let clip = try Clip.p30.file()
            let whip = try gateway.whipPublishers(2, clip: clip, seconds: Encoder.untilStopped)
            try expect("live streams", within: .seconds(60)) { try gateway.live() == 3 }
            // At every moment of a start: at once, while it opens the store, while it starts its threads, and when it serves.
            for (number, event) in [nil, "handover_began", "handover_began", "handed_over"].enumerated() {
                let before = gateway.count(of: "handover_rolled_back") + (event == nil ? 0 : 1)
                let known = gateway.count(of: "handed_over")
                let successor = try Successor(of: gateway)
                if let event {
                    let mark = "\"handover_began\",\"process\":\(successor.pid)}"
                    expect("\(event) (\(number))", within: .seconds(60)) {
                        event == "handed_over" ? gateway.count(of: event) > known : gateway.log.contains(mark)
                    }
                    if number == 2 { letPass(.milliseconds(30)) }
                }
                successor.kill()
                expect("back (\(number))\n\(gateway.log.suffix(1_500))", within: .seconds(60)) {
                    gateway.count(of: "handover_rolled_back") >= before
                }
            }
            #expect(encoder.isRunning && whip.isRunning)
            #expect(!gateway.log.contains("\"rtmp_publish_ended\""))
            // The store and the API are ours again.
            expect("the API answers", within: .seconds(60)) { (try? gateway.makeStreamKeys(stages: 1, each: 1)) != nil }
            whip.send(SIGINT)
            let sent = try whip.report(WHIPSent.self, within: .seconds(60))
            #expect(sent.deleted == 2 && sent.endedByServer == 0)
            encoder.interrupt()
            receiver.send(SIGINT)
            let received = try receiver.report(Received.self, within: .seconds(60))
            #expect(received.lost - received.droppedByKernel <= 0)
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `the new process tells what the old one has, and what it had still to say`() throws {
            let gateway = try Gateway(configuration: Gateway.roomForMany, participants: 10)
            let faulty = ContractClip(
                "B-frames at once",
                ContractClip.picture("320x180") + ContractClip.sound() + ContractClip.x264(["-profile:v", "main", "-bf", "2"])
                    + ContractClip.aac)
            let publishers = try gateway.makePublishers(["one", "other"])
            let publish = { (publisher: Publisher) in
                try ProgramRun([
                    "ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-v", "warning", "-re", "-i", try faulty.file().path,
                    "-c", "copy", "-f", "flv", "\(gateway.quickstart.rtmpURL)/\(publisher.streamKey)",
                ])
            }
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            expect("a live stream", within: .seconds(60)) { gateway.log.contains("\"rtmp_publish_granted\"") }
            #expect(try publish(publishers[0]).status(within: .seconds(60)) != 0)
            // The encoder may be gone before the line about its end is written.
            expect("the publish's end", within: .seconds(60)) { gateway.endOfRTMP(publishers[0].rtmpParticipantId) != nil }
            let sentence = try #require(gateway.endOfRTMP(publishers[0].rtmpParticipantId)).reason
            #expect(sentence == "refused")

            let successor = try Successor(of: gateway)
            try #require(successor.tookOver(within: .seconds(60)), "\(successor.log)")
            // Its encoder connects again at once, as encoders do: the words wait for it in the new process.
            #expect(try publish(publishers[0]).status(within: .seconds(60)) != 0)
            expect("the same words", within: .seconds(60)) { successor.log.contains("SD-1042") }
            #expect(!successor.log.contains("\"rtmp_publish_granted\""), "\(successor.log)")

            try expect("the old one's session is listed", within: .seconds(60)) {
                let told = try gateway.signed("v1/sessions")
                return told.contains(gateway.quickstart.participantId) && told.contains("\"process\":\"older\"")
            }
            let line = try #require(gateway.log.firstMatch(of: /"rtmp_publish_granted","session":"([0-9a-f]+)"/)).output.1
            #expect(try gateway.signed("v1/sessions/\(line)").contains("\"state\":\"live\""))
            #expect(try gateway.signed("v1/overview").contains("\"liveSessions\":1"))
            encoder.interrupt()
            expect("the old process ends", within: .seconds(60)) { !gateway.isRunning }
            try expect("and with it the session", within: .seconds(60)) {
                try gateway.signed("v1/overview").contains("\"liveSessions\":0,")
                    || gateway.signed("v1/overview").contains("\"liveSessions\":0}")
            }
            successor.stop()
            gateway.stop()
        }

        /// Its recorder ends after its last stream, when its own loop turns no more.
        @Test(.timeLimit(.minutes(10)))
        func `the end of the old process's last recording is told`() throws {
            let folder = RecordingFolder()
            let gateway = try Gateway(configuration: folder.setting)
            let encoder = try Encoder.ffmpeg(.p30, to: gateway.quickstart.publishURL, seconds: Encoder.untilStopped)
            let begun = try gateway.events { $0.contains { $0.name == "Recording Start" } }.map(\.name)
            #expect(begun.contains("Recording Start"), "\(begun)")
            let successor = try Successor(of: gateway)
            try #require(successor.tookOver(within: .seconds(60)), "\(successor.log)")
            encoder.interrupt()
            expect("the old process ends", within: .seconds(60)) { !gateway.isRunning }
            let told = try gateway.events { $0.contains { $0.name == "Recording End" } }.map(\.name)
            #expect(told.count { $0 == "Recording End" } == 1, "\(told)")
            #expect(folder.hasEnded(1))
            successor.stop()
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `SIGUSR2 starts the program that is on disk in our place`() throws {
            let gateway = try Gateway(configuration: Self.roomForMany)
            kill(gateway.pid, SIGUSR2)
            expect("the old process ends\n\(gateway.log)", within: .seconds(60)) { !gateway.isRunning }
            expect("the new one says so", within: .seconds(60)) { gateway.log.contains("\"took_over\"") }
            // The successor writes to the same output, and answers at the same address.
            let process = try #require(Int32(try gateway.lockHolder()))
            #expect(process != gateway.pid)
            defer { if Self.isAlive(process) { kill(process, SIGKILL) } }
            #expect(try gateway.admin("readyz").contains(#""passing":["draining""#), "it does not go away")
            kill(process, SIGTERM)
            expect("the new process ends", within: .seconds(60)) { !Self.isAlive(process) }
        }

        /// Of a process whose parent has ended: in a container nobody may be there who asks for its end.
        private static func isAlive(_ process: pid_t) -> Bool {
            let stat = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
            let state = stat.split(separator: ")").last?.split(separator: " ").first ?? ""
            return !["", "Z", "X"].contains(state)
        }

        static let roomForMany = """
            rates: {resources: 10000}
            quotas: {ingestConfigurations: 1000, publishersPerStage: 200}
            limits: {connectionsPerAddress: 1000}
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
