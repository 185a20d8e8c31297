import Store
import TestSupport
import Testing
import Wire

@testable import ClusterStore

@Suite("The history of a session that goes on", .timeLimit(.minutes(10)))
struct RevivedHistoryTests {
    private typealias Story = ClusterHistoryTests

    /// Of one that others had ended, each may be told last.
    @Test func `a session that goes on has no end, and one that is over keeps it`() async throws {
        let bench = try ClusterBench()
        let node = try bench.node("a")
        func end(after write: HistoryWrite, _ mark: String) async throws -> WallTime? {
            // What comes behind it says that it has come.
            node.store.record([write, Story.began(mark)])
            try await eventually { try await node.read { try $0.session(mark, ofStage: Story.arn) } != nil }
            return try #require(try await node.read { try $0.session("st-1", ofStage: Story.arn) }).endTime
        }
        let begins = Story.began("st-1")
        let ends = HistoryWrite.sessionEnded(stageARN: Story.arn, sessionID: "st-1", at: Story.now)
        #expect(try await end(after: begins, "st-a") == nil)
        #expect(try await end(after: ends, "st-b") == Story.now)
        #expect(try await end(after: begins, "st-c") == Story.now)
        _ = try bench.ask("HSET", "sd:{one}:session", "id", "st-1")
        #expect(try await end(after: begins, "st-d") == nil)
        #expect(try await end(after: ends, "st-e") == nil)
        _ = try bench.ask("HSET", "sd:{one}:session", "id", "st-2")
        #expect(try await end(after: ends, "st-f") == Story.now)
        let first = HistoryWrite.sessionEnded(stageARN: Story.arn, sessionID: "st-1", at: Story.now + .seconds(-9))
        #expect(try await end(after: first, "st-g") == Story.now)
    }
}
