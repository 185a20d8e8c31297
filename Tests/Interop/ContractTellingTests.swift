import Foundation
import TestSupport
import Testing

extension Interop.MediaContract {
    /// How a WHIP encoder hears what was wrong: DTLS has no words, so its next offer gets them.
    @Suite struct Telling {
        private static let faulty = ContractClip(
            "B-frames at once",
            ContractClip.picture("320x180") + ContractClip.sound() + ContractClip.x264(["-profile:v", "main", "-bf", "2"])
                + ContractClip.aac)
        private static let mended = ContractClip(
            "none", ContractClip.picture("320x180") + ContractClip.sound() + ContractClip.baseline + ContractClip.aac)

        /// What `stagedoor-bench whip` reports of one publish.
        private struct Attempt: Decodable {
            var refused: Int
            var endedByServer: Int
            var failures: [String: Int]

            var isAdmitted: Bool { refused == 0 }
            var words: String { failures.keys.first ?? "" }
        }

        private static func attempt(
            _ clip: ContractClip, at gateway: Gateway, by publisher: Publisher, offering profile: String = "42e01f"
        ) throws -> Attempt {
            // What breaks a rule is ended sooner, as soon as a busy machine comes to it.
            let seconds = clip.name == faulty.name ? "60" : "4"
            let run = try ProgramRun([
                try Workspace.program("stagedoor-bench"), "whip", try #require(gateway.quickstart.whipURL), "--token",
                publisher.token, "--flv", try clip.file().path, "--seconds", seconds, "--profile-level-id", profile,
            ])
            try #require(run.status(within: .seconds(120)) != nil)
            return try JSONDecoder().decode(Attempt.self, from: Data(run.lastLine.utf8))
        }

        @Test(.timeLimit(.minutes(10)))
        func `a refusal is told once more at the next offer, and three in five minutes refuse for a time`() throws {
            let gateway = try Gateway(configuration: Gateway.roomForMany, participants: 10)
            let publishers = try gateway.makePublishers(["one", "other"])
            let (one, other) = (publishers[0], publishers[1])

            let first = try Self.attempt(Self.faulty, at: gateway, by: one)
            #expect(first.isAdmitted && first.endedByServer == 1, "its media broke a rule")
            expect("the story of it", within: .seconds(60)) { gateway.endOfWHIP(one.whipParticipantId) != nil }
            let sentence = try #require(gateway.endOfWHIP(one.whipParticipantId)?.verdict)
            #expect(sentence.contains("SD-1042"))
            let second = try Self.attempt(Self.faulty, at: gateway, by: one)
            #expect(second.words == "the server answered 422: \(sentence)", "the same words, at the offer")
            let third = try Self.attempt(Self.faulty, at: gateway, by: one)
            #expect(third.isAdmitted && third.endedByServer == 1, "spent by the attempt that it refused: \(third.words)")

            let changed = try Self.attempt(Self.faulty, at: gateway, by: one, offering: "42001f")
            #expect(changed.isAdmitted && changed.endedByServer == 1, "a changed offer is heard: \(changed.words)")
            let barred = try Self.attempt(Self.faulty, at: gateway, by: one, offering: "42001f")
            let words = try #require(
                barred.words.firstMatch(of: /answered 429, Retry-After (\d+): SD-1052: (.*)/), "\(barred.words)")
            let seconds = try #require(Int(words.1))
            #expect((1...10).contains(seconds))
            #expect(words.2.contains("2 B-frames") && words.2.contains("try again in \(seconds) s"), "\(words.2)")
            let mended = try Self.attempt(Self.mended, at: gateway, by: one)
            #expect(mended.isAdmitted && mended.endedByServer == 0, "who mends his settings need not wait: \(mended.words)")
            let stranger = try Self.attempt(Self.mended, at: gateway, by: other, offering: "42001f")
            #expect(stranger.isAdmitted && stranger.endedByServer == 0, "nobody else is turned away: \(stranger.words)")
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `after Retry-After the same encoder is admitted`() throws {
            let gateway = try Gateway(configuration: Gateway.roomForMany, participants: 10)
            let publisher = try gateway.makePublishers(["one"])[0]
            for profile in ["42e01f", "42001f", "42c01f"] {
                let attempt = try Self.attempt(Self.faulty, at: gateway, by: publisher, offering: profile)
                #expect(attempt.isAdmitted && attempt.endedByServer == 1, "\(attempt.words)")
            }
            let barred = try Self.attempt(Self.faulty, at: gateway, by: publisher, offering: "42c01f")
            let match = try #require(barred.words.firstMatch(of: /Retry-After (\d+)/), "\(barred.words)")
            letPass(.seconds(try #require(Int(match.1))))
            let again = try Self.attempt(Self.mended, at: gateway, by: publisher, offering: "42c01f")
            #expect(again.isAdmitted && again.endedByServer == 0, "\(again.words)")
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `what the offer shows is refused at the offer, unless the stage's tags admit it`() throws {
            let gateway = try Gateway(configuration: Gateway.roomForMany, participants: 10)
            let plain = try gateway.makePublishers(["plain"])[0]
            let tagged = try gateway.makePublishers(["tagged"], stageTags: ["stagedoor:profiles": "baseline high"])[0]
            let high = try #require(ContractClip.bad.first { $0.name == "High" })
            let refused = try Self.attempt(high, at: gateway, by: plain, offering: "640c1f")
            #expect(refused.words.hasPrefix("the server answered 422: SD-1102"), "\(refused.words)")
            let admitted = try Self.attempt(high, at: gateway, by: tagged, offering: "640c1f")
            #expect(admitted.isAdmitted && admitted.endedByServer == 0, "\(admitted.words)")
            for fixture in ["chromium-156.0.8078.79-audioonly", "firefox-153.7.0esr-noh264"] {
                let answer = try Self.post(fixture, to: gateway, by: plain)
                #expect(answer.contains("422") && answer.contains("SD-1101"), "\(fixture): \(answer)")
            }
            let errors = try gateway.events(of: plain.whipParticipantId) { $0.count >= 3 }
            #expect(errors.map(\.name) == Array(repeating: "Participant Publish Error", count: 3))
            #expect(errors.map(\.error) == Array(repeating: "INVALID_VIDEO_CODEC", count: 3))
            gateway.stop()
        }

        /// An offer as a browser made it; no line of it is anybody's here.
        private static func post(_ fixture: String, to gateway: Gateway, by publisher: Publisher) throws -> String {
            let offer = Workspace.temporaryFile(suffix: ".sdp")
            try Data(OfferFixture.named(fixture).body).write(to: offer)
            return try ProgramRun.output(
                of: [
                    "curl", "-sS", "-w", " %{http_code}", "-H", "Content-Type: application/sdp", "-H",
                    "Authorization: Bearer \(publisher.token)", "--data-binary", "@\(offer.path)",
                    try #require(gateway.quickstart.whipURL),
                ], within: .seconds(60))
        }
    }
}
