import Redis
import StageMetrics
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

/// One server whose every SCAN has a next page.
private final class EndlessServer: DatabaseServer {
    func ask(_ questions: [Question]) throws(StoreError) -> [RedisValue] {
        guard questions.count == 1 else { throw .failed(reason: "This instance has cluster support disabled") }
        return [.array([.string(Array("7".utf8)), .array([])])]
    }

    func settle(_ key: String) -> Bool { true }
}

@Suite("A server that answers nonsense never ends the process", .timeLimit(.minutes(10)))
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
        var copy = LocalCopy()
        let codec = RecordCodec(cipher: RecordCipher(ClusterBench.key))
        var committer = Committer(server: ObstinateServer(.array(answer)), schema: schema, codec: codec, node: "a")
        let plan = CommitPlan([.put(.stage(ClusterBench.stage("one")))], on: copy, schema: schema)
        let expected: Committer.Outcome = answer.first == .integer(1) ? .committed : .conflict
        let outcome = try committer.commit(plan, to: &copy)
        #expect(outcome == expected)
    }

    @Test(arguments: [.min, -1, .max] as [Int64])
    func `to the rank of a session`(rank: Int64) throws {
        let history = ClusterHistory(server: ObstinateServer(.integer(rank)), schema: schema)
        #expect(try history.sessions(ofStage: "arn:stage/one", after: (ClusterBench.now, "st-1"), limit: 10).isEmpty)
    }

    @Test func `without an end to who follows the commits`() throws {
        let fields = ChangeEntry(node: "b", commit: 1, phase: .mark, keys: []).fields
        let entry = RedisValue.array([.string(Array("2-0".utf8)), .array(fields.map { .string($0.bytes) })])
        let server = ObstinateServer(.array(Array(repeating: entry, count: Loader.page)))
        let codec = RecordCodec(cipher: RecordCipher(ClusterBench.key))
        let database = ClusterDatabase(server: server, schema: schema, codec: codec, node: "a")
        #expect(try database.catchUp() == .lostTrack)
    }

    @Test func `without an end to who reads a recording's journal`() {
        let line = RedisValue.string(Array("segment\na\n1".utf8))
        let history = ClusterHistory(
            server: ObstinateServer(.array(Array(repeating: line, count: ClusterHistory.linesAtATime))), schema: schema)
        #expect(throws: StoreError.failed(reason: "a recording's journal does not end: it has 1049000 lines")) {
            try history.journal(ofParticipant: "p", ofStage: "arn:stage/one", prefix: "day")
        }
    }

    @Test func `without an end to who looks at all keys`() {
        let codec = RecordCodec(cipher: RecordCipher(ClusterBench.key))
        var now = MonotonicTime.zero
        let database = ClusterDatabase(server: EndlessServer(), schema: schema, codec: codec, node: "a") {
            now = now + .seconds(1)
            return now
        }
        #expect(throws: StoreError.failed(reason: "SCAN has not ended within ten minutes")) {
            try database.repairIndexes()
        }
    }

    @Test func `to what was counted`() {
        #expect(MetricCodec.decode(#"[["s/Publishers///",7,2147483647,1,1,1]]"#).count == 1)
        #expect(MetricCodec.decode(#"[["s/Publishers///",7,-1,1,1,1]]"#).isEmpty)
        #expect(MetricCodec.decode(#"[["s/Publishers///",7,1,1,1,1,"never"]]"#).map(\.point.seconds) == [0])
        let sample = MetricSample(MetricSeries(.publishers, stage: "s"), MetricPoint(minute: 7, 2, in: 1 << 59))
        #expect(MetricCodec.decode(MetricCodec.encode([sample])) == [sample])
    }
}
