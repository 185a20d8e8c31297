import Foundation
import Testing

extension Interop.MediaContract {
    /// Every clip of the contract, by RTMP and by WHIP, all at once at the real program.
    @Suite struct Matrix {
        /// A clip on its way by one of its routes.
        private struct Push {
            var clip: ContractClip
            var route: ContractClip.Route
            var publisher: Publisher
            var run: ProgramRun

            var participant: String { route == .rtmp ? publisher.rtmpParticipantId : publisher.whipParticipantId }
            var comment: Comment { "\(clip.name) by \(route): \(run.output.suffix(1_500))" }
        }

        static let seconds = 30

        @Test(.timeLimit(.minutes(10)))
        func `good clips are never touched in 30 s`() throws {
            let stalled = ContractClip.good.first { $0.name.hasPrefix("8.0") }.map { [$0] } ?? []
            Self.prepare(ContractClip.good)
            let gateway = try Gateway(configuration: Gateway.roomForMany, participants: 40)
            let browser = try Self.chromium(gateway)
            let pushes = try Self.push(ContractClip.good + stalled, to: gateway, seconds: Self.seconds + 1)
            // An encoder that is stopped sends what it missed in one burst, as TCP does after an outage.
            let outage = try #require(pushes.last { $0.route == .rtmp })
            letPass(.seconds(10))
            outage.run.send(SIGSTOP)
            letPass(.seconds(3))
            outage.run.send(SIGCONT)
            for push in pushes {
                #expect(push.run.status(within: .seconds(Self.seconds + 60)) == 0, push.comment)
                #expect(!push.run.output.contains("SD-"), push.comment)
            }
            try Self.expectUntouched(pushes, gateway)
            try Self.expectRamp(browser, gateway)
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `bad clips end within their time with exactly their code, and the encoder is told`() throws {
            Self.prepare(ContractClip.bad)
            let gateway = try Gateway(configuration: Gateway.roomForMany, participants: 50)
            let pushes = try Self.push(ContractClip.bad, to: gateway, seconds: nil)
            for push in pushes {
                let status = push.run.status(within: .seconds(60))
                #expect(status != nil && status != 0, push.comment)
            }
            let events = try gateway.events { events in
                pushes.allSatisfy { push in events.contains { $0.participant == push.participant && $0.error != nil } }
            }
            for push in pushes {
                let verdict = try #require(push.clip.verdict)
                let errors = events.filter { $0.participant == push.participant && $0.name == "Participant Publish Error" }
                #expect(errors.map(\.error) == [verdict.error], push.comment)
                try push.route == .rtmp ? Self.expectTold(push, verdict, gateway) : Self.expectClosed(push, verdict, gateway)
            }
            gateway.stop()
        }

        // MARK: - Parts

        /// What none of the rules concerns leaves a publish with nothing but its beginning and its end.
        private static func expectUntouched(_ pushes: [Push], _ gateway: Gateway) throws {
            let events = try gateway.events { events in
                pushes.allSatisfy { push in
                    events.contains { $0.participant == push.participant && $0.name == "Participant Unpublished" }
                }
            }
            for push in pushes {
                // What a full socket dropped makes fewer pictures a second: a warning then is of the way, not of the clip.
                let isWhole = push.route == .rtmp || push.run.output.contains("\"nackedPackets\":0,")
                let names = events.filter { $0.participant == push.participant }.map(\.name)
                    .filter { isWhole || $0 != "Participant Publish Warning" }
                #expect(names == ["Participant Published", "Participant Unpublished"], push.comment)
                guard push.route == .rtmp else { continue }
                expect("its end in the log", within: .seconds(60)) { gateway.endOfRTMP(push.participant) != nil }
                let end = try #require(gateway.endOfRTMP(push.participant), push.comment)
                // ffmpeg closes with answers unread: its kernel then resets, and drops what of its goodbye it has not sent.
                #expect(["unpublished", "connection_lost"].contains(end.reason), push.comment)
                // As much as a window holds where the gateway reads late.
                let least = end.reason == "unpublished" ? seconds : seconds - 8
                #expect(end.videoFrames ?? 0 >= Int(push.clip.frameRate) * least, push.comment)
            }
        }

        /// Chromium mostly begins with small pictures, and sends larger ones as it trusts the
        /// network: none of it ends the publish.
        private static func chromium(_ gateway: Gateway) throws -> ProgramRun {
            let quickstart = gateway.quickstart
            let page = try #require(quickstart.whipURL).replacing(/\/whip$/, with: "/publish")
            let client = Workspace.package.appending(path: "Tests/Interop/Clients/browser_whip.py").path
            let python = Workspace.package.appending(path: ".deps/venv/bin/python").path
            return try ProgramRun([python, client, "\(seconds)", page, try #require(quickstart.whipToken), "camera"])
        }

        private static func expectRamp(_ browser: ProgramRun, _ gateway: Gateway) throws {
            #expect(browser.status(within: .browserScript) == 0, "\(browser.output)")
            let line = try #require(browser.output.split(separator: "\n").first { $0.hasPrefix("heights") }, "\(browser.output)")
            let heights = line.split(separator: " ").compactMap { Int($0) }
            print("Chromium's ramp: \(heights)")
            // How it ramps is its own affair: it may begin with the whole picture, and go back to less on a busy machine.
            #expect(!heights.isEmpty, "\(browser.output)")
            let events = try gateway.events(of: gateway.quickstart.whipParticipantId) {
                $0.last?.name == "Participant Unpublished"
            }
            #expect(events.first?.name == "Participant Published" && events.last?.name == "Participant Unpublished")
            // A browser on a busy machine may send few or small pictures for a while, and is warned for them.
            #expect(!events.contains { $0.name == "Participant Publish Error" }, "\(events)")
        }

        /// ffmpeg prints our sentence; the stream ended in time, by the media that had come.
        private static func expectTold(_ push: Push, _ verdict: ContractClip.Verdict, _ gateway: Gateway) throws {
            for words in [verdict.code] + verdict.words { #expect(push.run.output.contains(words), push.comment) }
            expect("its end in the log", within: .seconds(60)) { gateway.endOfRTMP(push.participant) != nil }
            let end = try #require(gateway.endOfRTMP(push.participant), push.comment)
            #expect(end.reason == "refused", push.comment)
            let (pictures, sounds) = (Double(end.videoFrames ?? 0), Double(end.audioFrames ?? 0))
            let media = pictures > 0 ? pictures / push.clip.frameRate : sounds * 1_024 / 48_000
            #expect(verdict.media.contains(media), "after \(media) s of media: \(push.comment)")
        }

        /// DTLS ends without words: the session's story has them.
        private static func expectClosed(_ push: Push, _ verdict: ContractClip.Verdict, _ gateway: Gateway) throws {
            struct Report: Decodable {
                var endedByServer: Int
                var endedAfterSeconds: Double?
            }
            let report = try JSONDecoder().decode(Report.self, from: Data(push.run.lastLine.utf8))
            #expect(report.endedByServer == 1, push.comment)
            let limits = push.clip.whipMedia ?? verdict.media
            let allowed = limits.lowerBound...(limits.upperBound + machineSlack)
            #expect(report.endedAfterSeconds.map(allowed.contains) == true, push.comment)
            expect("its end in the log", within: .seconds(60)) { gateway.endOfWHIP(push.participant) != nil }
            let story = gateway.endOfWHIP(push.participant)?.verdict ?? ""
            #expect(story.contains(verdict.code), "\(story): \(push.comment)")
        }

        /// The sender's clock runs on while the machine is busy with the others: they all begin at once.
        private static let machineSlack = Soak.isAsked ? 1.0 : 30

        /// Encodes as many at a time as there are processors. What fails is told when the clip is asked for again.
        private static func prepare(_ clips: [ContractClip]) {
            DispatchQueue.concurrentPerform(iterations: clips.count) { _ = try? clips[$0].file() }
        }

        /// - Parameter seconds: how long each clip is sent, again and again; nil sends it until the end.
        private static func push(_ clips: [ContractClip], to gateway: Gateway, seconds: Int?) throws -> [Push] {
            let publishers = try gateway.makePublishers(clips.indices.map { "clip-\($0)" })
            return try zip(clips, publishers).flatMap { clip, publisher in
                try clip.routes.map { route in
                    let run =
                        try route == .rtmp ? rtmp(clip, publisher, gateway, seconds) : whip(clip, publisher, gateway, seconds)
                    return Push(clip: clip, route: route, publisher: publisher, run: run)
                }
            }
        }

        private static func rtmp(
            _ clip: ContractClip, _ publisher: Publisher, _ gateway: Gateway, _ seconds: Int?
        ) throws -> ProgramRun {
            let loop = seconds ?? 0 > clip.seconds ? ["-stream_loop", "-1"] : []
            let limit = seconds.map { ["-t", "\($0)"] } ?? []
            return try ProgramRun(
                ["ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-v", "warning", "-re"] + loop
                    + ["-i", try clip.file().path, "-c", "copy"] + limit
                    + ["-f", "flv", "\(gateway.quickstart.rtmpURL)/\(publisher.streamKey)"])
        }

        private static func whip(
            _ clip: ContractClip, _ publisher: Publisher, _ gateway: Gateway, _ seconds: Int?
        ) throws -> ProgramRun {
            try ProgramRun([
                try Workspace.program("stagedoor-bench"), "whip", try #require(gateway.quickstart.whipURL), "--token",
                publisher.token, "--flv", try clip.file().path, "--seconds", "\(seconds ?? 40)",
            ])
        }
    }
}
