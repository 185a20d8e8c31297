import Redis
import Store
import Testing
import Wire

@testable import ClusterStore

/// A server that has one answer to everything.
private final class ObstinateServer: DatabaseServer {
    private let answer: RedisValue

    init(_ answer: RedisValue) { self.answer = answer }

    func ask(_ questions: [Question]) -> [RedisValue] { questions.map { _ in answer } }

    func settle(_ key: String) -> Bool { true }
}

@Suite("A server that answers nonsense never ends the process")
struct NonsenseTests {
    private let schema = KeySchema(prefix: "sd:")

    /// The versions of what was committed, or the places of what somebody else has changed.
    @Test(
        arguments: [
            [.integer(1), .integer(-1)], [.integer(1), .integer(.min)], [.integer(1), .null],
            [.integer(0), .integer(.min), .integer(5), .string([])], [.integer(0), .integer(.max), .integer(5), .string([])],
            [.integer(0), .integer(0), .integer(5), .string([])], [.integer(0), .integer(1), .integer(.min), .string([])],
        ] as [[RedisValue]])
    func `to a commit`(answer: [RedisValue]) throws {
        var replica = Replica()
        let codec = RecordCodec(cipher: RecordCipher(ClusterBench.key))
        var committer = Committer(server: ObstinateServer(.array(answer)), schema: schema, codec: codec, node: "a")
        let plan = CommitPlan([.put(.stage(ClusterBench.stage("one")))], on: replica, schema: schema)
        let expected: Committer.Outcome = answer.first == .integer(1) ? .committed : .conflict
        let outcome = try committer.commit(plan, to: &replica)
        #expect(outcome == expected)
    }

    @Test(arguments: [.min, -1, .max] as [Int64])
    func `to the rank of a session`(rank: Int64) throws {
        let history = ClusterHistory(server: ObstinateServer(.integer(rank)), schema: schema)
        #expect(try history.sessions(ofStage: "arn:stage/one", after: (ClusterBench.now, "st-1"), limit: 10).isEmpty)
    }

    @Test func `to what was counted`() {
        #expect(MetricCodec.decode(#"[["s/Publishers///",7,2147483647,1,1,1]]"#).count == 1)
        #expect(MetricCodec.decode(#"[["s/Publishers///",7,-1,1,1,1]]"#).isEmpty)
    }
}
