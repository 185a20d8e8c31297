import Admission
import EventLoop
import Testing

@testable import RTMPIngest

@Suite("Publishes that wait for a key")
struct PublishQueueTests {
    @Test func `are told when the key is released, those that left are not`() throws {
        let (queue, told) = (PublishQueue(), Lock<[String]>([]))
        let (p1, other) = (ParticipantKey("p1", onStage: "s"), ParticipantKey("p1", onStage: "another"))
        func enter(_ participant: ParticipantKey, _ name: String) -> Int? {
            queue.enter(participant) { told.withLock { $0.append(name) } }
        }
        let first = try #require(enter(p1, "first"))
        _ = try #require(enter(p1, "second"))
        _ = try #require(enter(other, "other"))
        #expect(enter(p1, "third") == nil)
        queue.released(p1)
        #expect(told.withLock { $0 } == ["first", "second"])
        queue.leave(p1, first)
        queue.released(p1)
        #expect(told.withLock { $0 } == ["first", "second", "second"])
        #expect(enter(p1, "third") != nil, "There is room again")
    }
}
