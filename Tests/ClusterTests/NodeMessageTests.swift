import Redis
import TestSupport
import Testing
import Wire

@testable import Cluster

@Suite("Messages between nodes")
struct NodeMessageTests {
    private static let lease = LeaseIdentity(LeaseKey(stageID: "one", participantID: "p"), generation: 1_800_000_000_123)
    static let messages: [NodeMessage] = [
        .ask(NodeMessage.Question(number: 7, node: "a", lease: lease)),
        .answer(question: 7, .live(age: .milliseconds(40))),
        .answer(question: 7, .gone),
        .end(lease, LeaseEnding(code: 1007, words: "The \"operator\" ended it.")),
        .takenOver(lease),
    ]

    @Test(arguments: messages)
    func `are read as they were written, and in part not at all`(message: NodeMessage) {
        let bytes = message.serialized()
        #expect(NodeMessage(parsing: bytes) == message)
        for length in 0..<bytes.count { #expect(NodeMessage(parsing: Array(bytes.prefix(length))) == nil) }
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"kind":"sing"}"#, #"{"kind":"ask","number":1}"#, #"{"kind":"live","number":"1","age":2}"#,
        #"{"kind":"live","number":1,"age":-1}"#, #"{"kind":"live","number":1,"age":9000000000000000000}"#,
        #"{"kind":"end","stage":"s","participant":"p","generation":-1,"code":1,"words":""}"#,
        #"{"kind":"takenOver","stage":"s","participant":"p"}"#,
        #"{"kind":"takenOver","stage":"s","participant":"p","generation":9223372036854775807}"#,
    ])
    func `of nobody of us are nothing`(text: String) { #expect(NodeMessage(parsing: Array(text.utf8)) == nil) }

    @Test(arguments: messages)
    func `that were changed on the way are read whole or not at all`(message: NodeMessage) {
        var random = SplitMix64(seed: 11)
        for _ in 0..<2_000 {
            var bytes = message.serialized()
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: bytes.indices, using: &random)
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[place] = .random(in: .min ... .max, using: &random)
                case 1: bytes.insert(.random(in: 0x20...0x7E, using: &random), at: place)
                default: bytes.remove(at: place)
                }
            }
            if let read = NodeMessage(parsing: bytes) { #expect(NodeMessage(parsing: read.serialized()) == read) }
        }
    }
}

@Suite("Answers of scripts")
struct ClusterAnswerTests {
    /// One call of each kind that reads its answer.
    private static let calls: [ClusterCall] = [
        .claim(
            number: 1,
            ClusterCall.ClaimArguments(
                key: LeaseKey(stageID: "one", participantID: "p"), set: "p", credential: "c", takesOver: 0, sessionID: "st",
                lowestGeneration: 1, grace: .none, isOwnerSilent: false, ofDeadOwner: 0)),
        .renew(stage: "one", []), .end(stage: "one", participant: nil, LeaseEnding(code: 1007, words: "")),
        .sweep(stage: "one", node: "a", told: []), .idle(stage: "one"), .look(stage: "one", number: 1),
        .begin(stage: "one", sessionID: "st", number: 1), .stages(ofNode: "a"), .heartbeat(record: nil, buries: true), .nodes,
    ]

    @Test(arguments: calls)
    func `of another shape are none`(call: ClusterCall) {
        for value: RedisValue in [.null, .status("OK"), .integer(7), .array([.null]), .array([.array([.null])])] {
            let answer = ClusterAnswer(value, to: call)
            // Of a list of leases those that can be read are taken.
            #expect(answer == nil || answer == .ended([]) && value.elements != nil, "\(value)")
        }
    }

    private static func text(_ words: String...) -> RedisValue { .array(words.map { .string(Array($0.utf8)) }) }

    /// We add to the last one, and the history keeps them in 63 bits: both would end the process.
    @Test(arguments: ["18446744073709551615", "9223372036854775808", "9007199254740993"])
    func `with generations that nobody counts to are none`(generation: String) {
        let (claim, renewal, ends, sweep) = (Self.calls[0], Self.calls[1], Self.calls[2], Self.calls[3])
        #expect(ClusterAnswer(Self.text("granted", generation, "st", "7", "", "0", ""), to: claim) == nil)
        #expect(ClusterAnswer(Self.text("granted", "5", "st", "7", "b", generation, "st"), to: claim) == nil)
        #expect(ClusterAnswer(Self.text("held", "b", generation, "40"), to: claim) == nil)
        #expect(ClusterAnswer(.array([Self.text("lost", "b", generation)]), to: renewal) == nil)
        #expect(ClusterAnswer(.array([Self.text("revived", generation)]), to: renewal) == nil)
        #expect(ClusterAnswer(.array([Self.text("p", "b", generation)]), to: ends) == .ended([]))
        #expect(ClusterAnswer(.array([.integer(1), Self.text("p", generation, "st")]), to: sweep) == .swept(left: 1, []))
    }

    @Test func `about times of no clock are of a day or an hour, or of none`() {
        let heard = ClusterCall.heard(node: "a", number: 1)
        #expect(ClusterAnswer(.integer(.max), to: heard) == .heard(.seconds(86_400)))
        #expect(ClusterAnswer(.integer(.min), to: heard) == .heard(.zero))
        let idle = ClusterCall.idle(stage: "one")
        #expect(ClusterAnswer(Self.text("wait", "9223372036854775807"), to: idle) == .idle(.wait(.seconds(3_600))))
        #expect(ClusterAnswer(Self.text("wait", "-1"), to: idle) == .idle(.wait(.zero)))
    }

    @Test(arguments: calls)
    func `at random never end the process`(call: ClusterCall) {
        var random = SplitMix64(seed: 5)
        let words = [
            "granted", "held", "full", "wait", "ok", "lost", "end", "revived", "live", "none", "ended", "", "1", "-1", "x",
        ]
        func value(_ depth: Int) -> RedisValue {
            switch Int.random(in: 0..<(depth > 2 ? 3 : 6), using: &random) {
            case 0: return .integer(Int64.random(in: -2...2, using: &random))
            case 1, 2: return .string(Array(words[Int.random(in: words.indices, using: &random)].utf8))
            default: return .array((0..<Int.random(in: 0...8, using: &random)).map { _ in value(depth + 1) })
            }
        }
        for _ in 0..<2_000 { _ = ClusterAnswer(value(0), to: call) }
    }
}
