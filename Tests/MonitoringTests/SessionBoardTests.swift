import Admission
import GatewayLogging
import JSON
import Refusals
import StageHub
import Testing
import Wire

@testable import Monitoring

@Suite("Session board")
struct SessionBoardTests {
    @Test func `a publish is live until its publication ends, and then told for a while`() throws {
        let bench = try MonitoringBench()
        let publication = try bench.publish()
        #expect(bench.board.live.map(\.id) == ["s-p1"])
        publication.end(.closed)
        #expect(bench.board.live.isEmpty)
        let record = try #require(bench.board.session(id: "s-p1"))
        #expect(record.ending?.reason == "unpublished")
        #expect(record.json()["state"] == "ended")
    }

    @Test func `its story goes from the first step to the end, each step once`() throws {
        let bench = try MonitoringBench()
        let publication = try bench.publish()
        let run = MediaRun(track: .video, isKeyframe: true, arrival: bench.now)
        for _ in 0..<3 { publication.forward(UnsafeBufferPointer(start: nil, count: 0), of: run) }
        publication.forward(
            UnsafeBufferPointer(start: nil, count: 0), of: MediaRun(track: .audio, isKeyframe: false, arrival: bench.now))
        publication.end(.refused(Refusal(.bFrames)))
        let record = try #require(bench.board.ended.last)
        #expect(record.steps.map(\.name) == ["accepted", "granted", "firstVideo", "firstKeyframe", "firstAudio", "ended"])
        #expect(record.ending?.reason == "b_frames")
        #expect(record.ending?.verdict == Refusal(.bFrames).text)
        #expect(bench.exposition.contains(#"stagedoor_setup_seconds_count{protocol="rtmp",stage="firstKeyframe"} 1"#))
        #expect(bench.exposition.contains(#"stagedoor_session_end_total{protocol="rtmp",reason="b_frames"} 1"#))
    }

    @Test func `its story has every silence of a track, and of many the latest`() throws {
        let bench = try MonitoringBench()
        let publication = try bench.publish()
        for isMuted in [true, false, true] { publication.muteChanged(.video, isMuted: isMuted) }
        let record = try #require(bench.board.session(id: "s-p1"))
        #expect(record.steps.map(\.name) == ["accepted", "granted", "videoMuted", "videoUnmuted", "videoMuted"])
        for number in 0..<100 { publication.muteChanged(.audio, isMuted: number % 2 == 0) }
        #expect(record.steps.count == 2 + 32 && record.steps.last?.name == "audioUnmuted")
        publication.end(.closed)
        #expect(record.steps.contains { $0.name == "ended" })
    }

    @Test func `warnings stand in the story, one for each rule, and are counted`() throws {
        let bench = try MonitoringBench()
        let publication = try bench.publish()
        for (rule, words) in [("bFrames", "first"), ("frameRate", "slow"), ("bFrames", "second")] {
            bench.board.note(publication.lease, warnedBy: rule, words)
        }
        publication.end(.closed)
        bench.board.note(publication.lease, warnedBy: "bFrames", "too late")
        let record = try #require(bench.board.ended.last)
        #expect(record.warnings.map(\.rule) == ["bFrames", "frameRate"])
        #expect(record.warnings.map(\.sentence) == ["second", "slow"])
        #expect(record.warnings.map(\.count) == [2, 1])
        #expect(record.json()["story"]?["warnings"]?.array?.count == 2)
    }

    @Test func `a story has 32 warnings at most, and the latest 32 switches`() throws {
        let bench = try MonitoringBench()
        let publication = try bench.publish(as: .joined)
        for number in 0..<40 {
            bench.board.note(publication.lease, warnedBy: "rule \(number)", "once")
            bench.board.note(
                publication.lease, SourceSwitch(time: bench.wallNow, from: nil, to: 1, reason: "\(number)", gap: nil))
        }
        bench.board.note(publication.lease, warnedBy: "rule 31", "again")
        publication.end(.closed)
        let record = try #require(bench.board.session(id: "s-p1"))
        #expect(record.warnings.map(\.rule) == (0..<32).map { "rule \($0)" })
        #expect(record.warnings.last?.count == 2)
        let switches = try #require(record.json()["story"]?["switches"]?.array)
        #expect(switches.compactMap { $0["reason"]?.string } == (8..<40).map { "\($0)" })
    }

    @Test func `refusals are kept in bounded number and counted by reason`() throws {
        let bench = try MonitoringBench()
        for _ in 0..<(SessionBoard.maximumRefused + 5) {
            bench.board.note(
                RefusedAttempt(
                    Refusal(.unknownStreamKey), of: nil, by: .rtmp, from: MonitoringBench.source, userAgent: "x"))
        }
        #expect(bench.board.refused.count == SessionBoard.maximumRefused)
        let series =
            #"stagedoor_publish_attempts_total{protocol="rtmp",reason="\#(RefusalCode.unknownStreamKey.name)",result="refused"}"#
        #expect(bench.exposition.contains("\(series) \(SessionBoard.maximumRefused + 5)\n"))
    }

    @Test func `a stream that broke the contract is a violation, and no attempt once it was live`() throws {
        let bench = try MonitoringBench()
        bench.board.note(
            RefusedAttempt(
                Refusal(.bFrames), of: nil, by: .whip, from: MonitoringBench.source, userAgent: "x", wasLive: true))
        #expect(bench.exposition.contains(#"stagedoor_spec_violations_total{protocol="whip",rule="b_frames"} 1"#))
        #expect(!bench.exposition.contains(#"reason="b_frames""#))
    }

    @Test func `what ended is kept in bounded number`() throws {
        let bench = try MonitoringBench()
        for index in 0..<(SessionBoard.maximumEnded + 3) { try bench.publish("p\(index)").end(.closed) }
        #expect(bench.board.ended.count == SessionBoard.maximumEnded)
        #expect(bench.board.session(id: "s-p0") == nil)
    }

    @Test func `a summary tells duration, amounts, loss, bitrate and verdict`() throws {
        let bench = try MonitoringBench()
        let publication = try bench.publish("p1", by: .whip)
        publication.counters[.video].setPictureSize(width: 1280, height: 720)
        for _ in 0..<99 { publication.counters[.video].count(byteCount: 1_000, endsFrame: true) }
        publication.counters.lost.add(1)
        bench.pass(.seconds(4))
        publication.end(.connectionLost)
        let fields = SessionSummary(try #require(bench.board.ended.last)).fields
        #expect(fields["duration_s"] == 4.0)
        #expect(fields["packets"] == 99)
        #expect(fields["lost_packets"] == 1)
        #expect(fields["loss"] == 0.01)
        #expect(fields["bitrate_bps"] == 198_000)
        #expect(fields["picture"] == "1280x720")
        #expect(fields["verdict"] == "The connection was lost, or nothing came any more.")
    }
}
