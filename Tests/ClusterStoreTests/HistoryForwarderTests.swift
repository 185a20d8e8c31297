import Redis
import Store
import Testing
import Wire

@testable import ClusterStore

/// A server whose every script answers the same.
private final class ScriptServer: DatabaseServer {
    private let outcome: RedisValue

    init(_ outcome: RedisValue) { self.outcome = outcome }

    func ask(_ questions: [Question]) -> [RedisValue] { questions.map { _ in outcome } }

    func settle(_ key: String) -> Bool { true }
}

@Suite("What a node's receivers are told of the history that it brings")
struct HistoryForwarderTests {
    static let takenThenLateThenForgotten: [RedisValue] = [.string(Array("1".utf8)), .string([]), .null]

    /// An earlier version told its receivers as it queued: its events have no number, and may still wait at the first start.
    @Test(arguments: [0, 7] as [Int64], takenThenLateThenForgotten)
    func `is an event of this version that is not too late`(sequence: Int64, outcome: RedisValue) throws {
        let forwarder = HistoryForwarder(
            server: ScriptServer(outcome), schema: KeySchema(prefix: "sd:"), retention: .seconds(86_400))
        var event = ParticipantEvent(
            name: .left, time: ClusterBench.now, of: .init("p", ofStage: "arn:stage/one", sessionID: "st-1"), userID: "u",
            generation: 5)
        event.sequence = sequence
        let told = try forwarder.forward(.event(event), from: .init(queue: "q", sequence: 1), now: ClusterBench.now)
        let isTold = sequence > 0 && outcome != .string([])
        #expect(told == (isTold ? [event] : []))
    }
}
