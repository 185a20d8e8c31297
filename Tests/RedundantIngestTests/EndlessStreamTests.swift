import MediaContract
import Refusals
import StageHub
import TestSupport
import Testing
import Wire

@testable import RedundantIngest

/// Encoders that the contract ends after a day, and that start anew, on a clock of the test's: a turn is a second.
@Suite("A stream without end")
struct EndlessStreamTests {
    private static let day = 86_400

    private struct Switch: Equatable {
        var second: Int
        var encoder: Int
        var reason: SourceChoice.Reason
    }

    /// What came of some days.
    private struct Story {
        var switches: [Switch] = []
        /// Encoders by the seconds in which the contract ended them.
        var ends: [Int: [Int]] = [:]
        /// Seconds of which the stage got nothing.
        var silence: [Int] = []
    }

    /// One encoder's publish.
    private struct Publish {
        let contract: ContractSession
        var health = SourceHealth()

        init(_ encoder: Int, _ context: ContractContext) {
            let publisher = ContractPublisher(credential: "key-\(encoder)", source: .loopback, product: "Lavf")
            contract = ContractSession(context: context, ingest: .whip, publisher: publisher)
        }

        /// - Returns: what ends it.
        mutating func bring(_ second: Int, at now: MonotonicTime) -> Refusal? {
            health.arrived(.video, Int64(second) * 1_000_000_000, at: now)
            let refusal = contract.audioFrame(byteCount: 100, timestamp: Int64(second) * 48_000, arrival: now)
            return refusal ?? contract.timePassed(now)
        }
    }

    /// - Parameters:
    ///   - starts: of encoders 1 and 2, in seconds.
    ///   - pause: how long an encoder that was ended takes to come back, in seconds.
    private func story(of days: Int, starts: [Int], pause: Int = 5) -> Story {
        let context = ContractContext()
        var (story, choice) = (Story(), SourceChoice())
        var publishes: [Int: Publish] = [:]
        var nextStart = [1: starts[0], 2: starts[1]]
        for second in 0..<days * Self.day {
            let now = MonotonicTime(nanoseconds: Int64(second + 1) * 1_000_000_000)
            for encoder in 1...2 {
                if nextStart[encoder] == second { publishes[encoder] = Publish(encoder, context) }
                guard let refusal = publishes[encoder]?.bring(second, at: now) else { continue }
                #expect(refusal.code == .durationExceeded)
                publishes[encoder] = nil
                choice.gone(encoder, because: .breach)
                story.ends[encoder, default: []].append(second)
                nextStart[encoder] = second + pause
            }
            if let wanted = choice.wanted(at: now, level: { publishes[$0]?.health.level(at: now) }) {
                choice.switched(to: wanted.encoder, at: now)
                story.switches.append(Switch(second: second, encoder: wanted.encoder, reason: wanted.reason))
            }
            if choice.current == nil { story.silence.append(second) }
        }
        return story
    }

    @Test func `encoders whose days end apart are a source at every second`() {
        let (half, day) = (Self.day / 2, Self.day)
        let story = story(of: 3, starts: [0, half])
        #expect(story.silence.isEmpty)
        #expect(story.ends == [1: [day, 2 * day + 5], 2: [half + day, half + 2 * day + 5]], "each its own day, anew")
        #expect(
            story.switches == [
                Switch(second: 0, encoder: 1, reason: .begin), Switch(second: day, encoder: 2, reason: .breach),
                Switch(second: half + day, encoder: 1, reason: .breach), Switch(second: 2 * day + 5, encoder: 2, reason: .breach),
                Switch(second: half + 2 * day + 5, encoder: 1, reason: .breach),
            ])
    }

    @Test func `days that end at once are a pause that the publish outlives`() {
        let story = story(of: 2, starts: [0, 0])
        #expect(story.ends == [1: [Self.day], 2: [Self.day]])
        #expect(story.silence == Array(Self.day..<Self.day + 5))
        #expect(.seconds(story.silence.count) < JoinedParticipant.absence)
    }
}
