import GatewayMetrics
import JSON
import Refusals
import StageHub
import WebRTCTransport
import Testing
import Wire

@testable import WHIPIngest

@Suite("A session's story")
struct SessionStoryTests {
    typealias Step = SessionStory.Step

    struct Example: Sendable, CustomTestStringConvertible {
        var steps: [Step]
        var checks = 2
        var rejectedChecks = 0
        var seconds: Int64
        var end: SessionEnd
        var verdict: String
        var testDescription: String { verdict }
    }

    static let address = "UDP 203.0.113.5:3478"
    static let examples: [Example] = [
        Example(
            steps: [], seconds: 15, end: .connectionLost,
            verdict: "Within 15.0 s no connectivity check arrived on \(address): is the advertised address reachable?"),
        Example(
            steps: [], seconds: 5, end: .closed,
            verdict: "The publisher ended the session after 5.0 s: no connectivity check arrived on \(address): "
                + "is the advertised address reachable?"),
        Example(
            steps: [], seconds: 0, end: .closed,
            verdict: "The publisher ended the session after 0.0 s: no connectivity check arrived on \(address)."),
        Example(
            steps: [], rejectedChecks: 7, seconds: 15, end: .connectionLost,
            verdict:
                "Within 15.0 s connectivity checks arrived with a wrong password (7): does the client use this answer's ice-pwd?"),
        Example(
            steps: [.firstCheck], seconds: 15, end: .connectionLost,
            verdict: "Within 15.0 s connectivity checks arrived but no DTLS ClientHello followed: do answers reach the client?"),
        Example(
            steps: [.firstCheck], checks: 1, seconds: 5, end: .closed,
            verdict: "The publisher ended the session after 5.0 s: one connectivity check arrived, then neither another nor a "
                + "DTLS ClientHello: does the client wait for those of the gateway, which sends none?"),
        Example(
            steps: [.firstCheck, .claimed], seconds: 10, end: .connectionLost,
            verdict: "Within 10.0 s the DTLS handshake began and was not finished."),
        Example(
            steps: [.firstCheck, .claimed], seconds: 1, end: .refused(Refusal(.wrongFingerprint)),
            verdict: Refusal(.wrongFingerprint).text),
        Example(
            steps: [.firstCheck, .claimed, .handshakeDone, .leaseGranted], seconds: 9, end: .closed,
            verdict: "The publisher ended the session after 9.0 s: DTLS was done but no RTP packet arrived."),
        Example(
            steps: [.firstCheck, .claimed, .handshakeDone, .leaseGranted, .firstRTP], seconds: 20, end: .connectionLost,
            verdict: "Within 20.0 s RTP arrived but no H.264 keyframe (IDR) did."),
        Example(
            steps: [.firstCheck, .claimed, .handshakeDone, .leaseGranted, .firstRTP, .firstIDR], seconds: 61, end: .closed,
            verdict: "The publisher ended the session after 61.0 s."),
        Example(
            steps: [.firstCheck, .claimed, .handshakeDone, .leaseGranted, .firstRTP, .firstIDR], seconds: 61,
            end: .connectionLost, verdict: "Nothing came from the publisher any more."),
        Example(
            steps: [.firstCheck, .claimed, .handshakeDone, .leaseGranted, .firstRTP, .audioAlone], seconds: 61, end: .closed,
            verdict: "The publisher ended the session after 61.0 s."),
        Example(steps: [], seconds: 1, end: .takenOver, verdict: "Another session of the same participant took over."),
    ]

    @Test(arguments: examples)
    func `the verdict names who ended it and where it stopped`(_ example: Example) {
        var story = SessionStory()
        story.note(.posted, at: WallTime(nanosecondsSince1970: 0))
        for step in example.steps { story.note(step, at: WallTime(nanosecondsSince1970: 1_000_000)) }
        (story.checks, story.rejectedChecks) = (example.checks, example.rejectedChecks)
        story.end(at: WallTime(nanosecondsSince1970: example.seconds * 1_000_000_000), example.end, advertised: Self.address)
        #expect(story.verdict == example.verdict)
        #expect(story.entries.map(\.step) == [.posted] + example.steps + [.ended])
    }

    @Test func `the silences of its tracks stand among its steps, by time`() {
        func time(_ seconds: Int64) -> WallTime { WallTime(nanosecondsSince1970: seconds * 1_000_000_000) }
        var story = SessionStory()
        story.note(.posted, at: time(1))
        story.note(.firstIDR, at: time(3))
        story.note(.ended, at: time(9))
        let json = story.json(mutes: [PublishStep("videoMuted", at: time(5)), PublishStep("videoUnmuted", at: time(7))])
        let steps = json["steps"]?.array ?? []
        #expect(steps.map { $0["step"]?.string } == ["posted", "firstIDR", "videoMuted", "videoUnmuted", "ended"])
        #expect(steps.map { $0["milliseconds"]?.integer } == [0, 2_000, 4_000, 6_000, 8_000])
    }

    @Test func `a session whose media came and no lease is counted by the step before`() {
        let registry = MetricsRegistry()
        let metrics = WHIPMetrics(registry)
        var story = SessionStory()
        for step in [Step.posted, .firstCheck, .claimed, .handshakeDone, .firstRTP, .ended] {
            story.note(step, at: WallTime(nanosecondsSince1970: 0))
        }
        metrics.ended(story, .closed)
        let exposition = String(decoding: registry.exposition(), as: UTF8.self)
        #expect(exposition.contains(#"stagedoor_whip_unpublished_total{step="handshakeDone"} 1"#))
    }
}
