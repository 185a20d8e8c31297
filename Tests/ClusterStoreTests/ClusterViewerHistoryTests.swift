import Admission
import EventLoop
import Store
import Testing
import Wire

@testable import ClusterStore

/// Participants that watch.
extension ClusterHistoryTests {
    /// Who watches, and begins to in the second of its generation.
    private static func viewer(_ generation: UInt64, isConnected: Bool = true) -> HistoryWrite {
        var viewer = Participant(
            .init("v", ofStage: arn, sessionID: "st-1"), userID: "user v", attributes: [:],
            firstJoinTime: now + .seconds(Int64(generation)), ingestProtocol: "", ingestConfigurationARN: "",
            client: ClientAttributes())
        (viewer.isConnected, viewer.generation) = (isConnected, generation)
        return .participant(viewer)
    }

    @Test
    func `the first join counts, and no refusal before it`() async throws {
        let bench = try ClusterBench()
        let node = try bench.node("a")
        node.store.record([Self.began("st-1"), Self.viewer(7, isConnected: false), Self.event(.subscribeError, 7, of: "v")])
        for generation in [8, 9] as [UInt64] {
            node.store.record([Self.viewer(generation), Self.event(.joined, generation, of: "v")])
            node.store.record([Self.event(.left, generation, of: "v"), Self.viewer(generation, isConnected: false)])
        }
        try await eventually { try await Self.names(node, "v").count == 5 }
        let shown = try await node.read { try $0.participant(.init("v", ofStage: Self.arn, sessionID: "st-1")) }
        #expect(shown?.firstJoinTime == Self.now + .seconds(8))
    }

    @Test
    func `the first join counts where an earlier version told of it`() async throws {
        let bench = try ClusterBench()
        let node = try bench.node("a")
        node.store.record([Self.began("st-1"), Self.viewer(8), Self.event(.joined, 8, of: "v"), Self.event(.left, 8, of: "v")])
        node.store.record([Self.viewer(8, isConnected: false), Self.event(.subscribeError, 8, of: "v")])
        try await eventually { try await Self.names(node, "v").count == 3 }
        let forget = """
            local record = cjson.decode(redis.call('HGET', KEYS[1], 'v'))
            record.joined = nil
            redis.call('HSET', KEYS[1], 'v', cjson.encode(record))
            return 1
            """
        #expect(try bench.ask("EVAL", forget, "1", "sd:{one}:session:st-1:participants") == "1")
        // A refusal in between, which this version writes, does not make it one that never joined.
        node.store.record([Self.viewer(9, isConnected: false), Self.viewer(10), Self.event(.joined, 10, of: "v")])
        try await eventually { try await Self.names(node, "v").count == 4 }
        let shown = try await node.read { try $0.participant(.init("v", ofStage: Self.arn, sessionID: "st-1")) }
        #expect(shown?.firstJoinTime == Self.now + .seconds(8))
    }

    /// One publishes through a node and another watches; at a second node both ask for somebody who is not live there.
    @Test func `who is turned away at one node is still there through another`() async throws {
        let bench = try ClusterBench()
        let node = try bench.node("a")
        node.store.record(Self.start(5) + [Self.viewer(7), Self.event(.joined, 7, of: "v")])
        let store = node.store
        let other = LocalLeases(node: "b", record: { store.record($0) }, wallNow: { Self.now })
        for id in ["p", "v", "stranger"] {
            other.watchRefused(
                Watching(SubscribeGrant(participantID: id, stageARN: Self.arn, stageID: "one"), watches: "nobody"),
                errorCode: "PUBLISHER_NOT_FOUND",
                session: StageSession(stageARN: Self.arn, sessionID: "st-1", startTime: Self.now))
        }
        try await eventually { try await Self.names(node, "stranger") == [.subscribeError] }
        #expect(try await Self.names(node) == [.joined, .publishStarted, .subscribeError])
        let connected = try await node.read {
            try $0.participants(ofStage: Self.arn, sessionID: "st-1", matching: .connected(true), limit: 10)
        }
        #expect(connected.map(\.participantID) == ["p", "v"])
        let stranger = try await node.read { try $0.participant(.init("stranger", ofStage: Self.arn, sessionID: "st-1")) }
        #expect(stranger?.isConnected == false)
    }

    /// Two viewers through a node that dies, one of whom watches two, and a publisher who stays.
    @Test func `a node's viewers leave with it, whoever says so, and nobody else does`() async throws {
        let bench = try ClusterBench()
        let node = try bench.node("a")
        func watch(_ id: String, _ remotes: [String], at place: String) -> [HistoryWrite] {
            var viewer = Participant(
                .init(id, ofStage: Self.arn, sessionID: "st-1"), userID: "user \(id)", attributes: [:], firstJoinTime: Self.now,
                ingestProtocol: "", ingestConfigurationARN: "", client: ClientAttributes())
            (viewer.generation, viewer.node) = (7, place)
            return [.participant(viewer), Self.event(.joined, 7, of: id)]
                + remotes.map { Self.event(.subscribeStarted, 7, of: id, remote: $0) }
        }
        node.store.record(Self.start(5))
        node.store.record(watch("v", ["p", "q"], at: "dead") + watch("w", ["p"], at: "dead") + watch("x", ["p"], at: "alive"))
        node.store.record([Self.event(.subscribeStopped, 7, of: "v", remote: "q"), Self.closed(9, of: ">dead")])
        // What the node still had in its queue comes too late.
        node.store.record([Self.event(.left, 7, of: "w")])
        try await eventually { try await Self.names(node, "w").count == 4 }
        #expect(
            try await Self.names(node, "v")
                == [.joined, .subscribeStarted, .subscribeStarted, .subscribeStopped, .subscribeStopped, .left])
        #expect(try await Self.names(node, "w") == [.joined, .subscribeStarted, .subscribeStopped, .left])
        #expect(try await Self.names(node, "x") == [.joined, .subscribeStarted])
        let connected = try await node.read {
            try $0.participants(ofStage: Self.arn, sessionID: "st-1", matching: .connected(true), limit: 10)
        }
        #expect(connected.map(\.participantID) == ["p", "x"])
        let told = try await node.read {
            try $0.events(of: .init("w", ofStage: Self.arn, sessionID: "st-1"), limit: 10).map(\.remoteParticipantID)
        }
        #expect(told == ["", "p", "p", ""])
    }
}
