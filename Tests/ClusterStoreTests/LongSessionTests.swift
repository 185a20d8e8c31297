import EventLoop
import StageMetrics
import Store
import Testing
import Wire

@testable import ClusterStore

/// A stage on which somebody publishes for two months.
@Suite("Sessions that last", .timeLimit(.minutes(10)))
struct LongSessionTests {
    private typealias History = ClusterHistoryTests

    @Test
    func `a session that runs is kept by its metrics however long, and in the list for its time after that`() async throws {
        let bench = try ClusterBench()
        let node = try bench.node("a")
        let began = EventLoop.wallNow() + .seconds(-60 * 86_400)
        let kept = ["sd:{one}:session:st-long", "sd:{one}:session:st-long:participants", "sd:{one}:sessions"]
        _ = try bench.ask("HSET", "sd:{one}:session", "id", "st-long")
        node.store.record([
            .sessionBegan(StageSession(stageARN: History.arn, sessionID: "st-long", startTime: began)),
            History.participant(1, session: "st-long"),
        ])
        try await eventually {
            try await node.read { try $0.participant(.init("p", ofStage: History.arn, sessionID: "st-long")) } != nil
        }
        for key in kept { #expect(try bench.ask("EXPIRE", key, "1000") == "1") }
        node.store.record(MetricSample.writes([History.samples[0]]))
        try await eventually { try kept.allSatisfy { try Int(bench.ask("TTL", $0)) ?? 0 > 1_000_000 } }
        _ = try bench.ask("HSET", "sd:{one}:session", "id", "st-next")
        node.store.record([
            .sessionEnded(stageARN: History.arn, sessionID: "st-long", at: EventLoop.wallNow()), History.began("st-next"),
        ])
        try await eventually { try await node.read { try $0.session("st-next", ofStage: History.arn) } != nil }
        let sessions = try await node.read { try $0.sessions(ofStage: History.arn, after: nil, limit: 10) }
        #expect(sessions.map(\.sessionID) == ["st-next", "st-long"])
        #expect(sessions.last?.endTime != nil)
        // Once it has expired it leaves the list.
        _ = try bench.ask("DEL", kept[0])
        node.store.record([History.began("st-third", at: 1)])
        try await eventually { try bench.ask("ZRANGE", kept[2], "0", "-1").contains("st-third") }
        #expect(try !bench.ask("ZRANGE", kept[2], "0", "-1").contains("st-long"))
    }
}
