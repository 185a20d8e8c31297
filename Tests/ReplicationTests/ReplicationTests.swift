import Admission
import EventLoop
import Refusals
import StageHub
import Store
import TestSupport
import Testing
import Wire

@testable import Replication

@Suite("Replication of participants")
struct ReplicationTests {
    private static let key = SmallGateway.key("p", "A", "B")

    /// A gateway whose participant p of stage A stands on stage B.
    private func replicated(
        window: Int = 0, lingering: Duration = .milliseconds(300)
    ) throws -> (SmallGateway, SmallGateway.Publish) {
        let gateway = try SmallGateway(stages: ["A", "B", "C"], lingering: lingering)
        let publish = try #require(gateway.publish("p", on: "A"))
        gateway.start(Self.key, window: window, attributes: ["seat": "7", "name": "new"])
        gateway.until("it stands on B") { gateway.replicas.count == 1 && gateway.record(Self.key)?.state == .active }
        return (gateway, publish)
    }

    private func names(_ gateway: SmallGateway, on stage: String) -> [String] {
        gateway.events().filter { $0.stageARN == SmallGateway.arn(stage) }.map(\.name.rawValue)
    }

    @Test func `a replica has its own lease, merged attributes, events and media`() throws {
        let (gateway, publish) = try replicated()
        let sink = try #require(gateway.replicas.first)
        #expect(sink.grant.stageID == "B" && sink.grant.attributes == ["name": "new", "seat": "7"])
        #expect(sink.formats == [.audio] && sink.hasStarted)
        #expect(gateway.live([Self.key.source, Self.key.destination]).count == 2)
        let byte: [UInt8] = [1]
        byte.withUnsafeBytes { bytes in
            let packet = MediaPacket(sequenceNumber: 1, timestamp: 1, marker: true, payload: bytes)
            let run = MediaRun(track: .audio, isKeyframe: false, arrival: EventLoop.monotonicNow())
            [packet].withUnsafeBufferPointer { publish.publication.forward($0, of: run) }
        }
        publish.publication.muteChanged(.audio, isMuted: true)
        #expect(sink.packets == 1 && sink.muted == [.audio])
        let record = try #require(gateway.record(Self.key))
        let (source, replica) = (
            try #require(gateway.participant("p", "A", record.sourceSessionID)),
            try #require(gateway.participant("p", "B", record.destinationSessionID))
        )
        #expect(source.replication == ParticipantReplication(.source, isActive: true))
        #expect(
            replica.replication
                == ParticipantReplication(
                    .replica, isActive: true, sourceStageARN: SmallGateway.arn("A"), sourceSessionID: record.sourceSessionID))
        #expect(replica.isConnected && replica.published)
        let events = gateway.events()
        #expect(events.filter { $0.isReplica }.map(\.name) == [.joined, .publishStarted])
        let started = try #require(events.first { $0.name == .replicationStarted })
        #expect(started.stageARN == SmallGateway.arn("A"))
        #expect(started.destination == .init(stageARN: SmallGateway.arn("B"), sessionID: record.destinationSessionID))
    }

    @Test func `of all sources at once the same runs as of each`() throws {
        let gateway = try SmallGateway(stages: ["A", "B", "C"])
        for (participant, destination) in [("p", "C"), ("p", "B"), ("q", "B")] {
            gateway.start(SmallGateway.key(participant, "A", destination), window: 0)
        }
        let all = gateway.book.running()
        #expect(all.mapValues(\.count) == [Self.key.source: 2, SmallGateway.key("q", "A", "B").source: 1])
        for (source, running) in all { #expect(running == gateway.book.running(of: source)) }
    }

    @Test func `a replication that is stopped leaves the source as it is`() throws {
        let (gateway, publish) = try replicated()
        gateway.stop { $0 == Self.key }
        gateway.until("it has left B") { gateway.replicas.isEmpty && gateway.live([Self.key.destination]).isEmpty }
        #expect(!publish.isOver && gateway.live([Self.key.source]).count == 1)
        #expect(names(gateway, on: "A") == ["JOINED", "PUBLISH_STARTED", "REPLICATION_STARTED", "REPLICATION_STOPPED"])
        #expect(names(gateway, on: "B") == ["JOINED", "PUBLISH_STARTED", "PUBLISH_STOPPED", "LEFT"])
        let record = try #require(gateway.record(Self.key))
        #expect(record.state == .stopped)
        #expect(gateway.participant("p", "B", record.destinationSessionID)?.replication?.isActive == false)
    }

    @Test func `a source that comes back within its window has its replica again, in the same sessions`() throws {
        let (gateway, publish) = try replicated(window: 60)
        let before = try #require(gateway.record(Self.key))
        gateway.end(publish)
        gateway.until("the replica is gone") { gateway.replicas.isEmpty && gateway.live([Self.key.destination]).isEmpty }
        gateway.turn(.milliseconds(200))
        #expect(gateway.record(Self.key)?.state == .active)
        _ = try #require(gateway.publish("p", on: "A"))
        gateway.until("it is back") { gateway.replicas.count == 1 }
        let after = try #require(gateway.record(Self.key))
        #expect(after.destinationSessionID == before.destinationSessionID && after.number == before.number)
        let told = names(gateway, on: "A")
        #expect(told.count { $0 == "REPLICATION_STARTED" } == 1 && !told.contains("REPLICATION_STOPPED"), "\(told)")
    }

    @Test func `a source that comes back while its destination is full waits for a place there`() throws {
        let (gateway, publish) = try replicated(window: 60)
        gateway.end(publish)
        gateway.until("the replica is gone") { gateway.replicas.isEmpty && gateway.live([Self.key.destination]).isEmpty }
        let others = (0..<12).compactMap { gateway.publish("b\($0)", on: "B") }
        _ = try #require(gateway.publish("p", on: "A"))
        gateway.until("it waits") { gateway.record(Self.key)?.refusedBy == RefusalCode.stageFull.number }
        let waiting = try #require(gateway.record(Self.key))
        #expect(waiting.state == .active && !waiting.isTaken && gateway.replicas.isEmpty)
        gateway.until("the history says so") {
            gateway.participant("p", "B", waiting.destinationSessionID)?.replication?.isActive == false
                && names(gateway, on: "B").contains("PUBLISH_ERROR")
        }
        gateway.end(try #require(others.first))
        gateway.until("it has its place") { gateway.replicas.count == 1 && gateway.record(Self.key)?.isTaken == true }
        let told = names(gateway, on: "A")
        #expect(told.count { $0 == "REPLICATION_STARTED" } == 1 && !told.contains("REPLICATION_STOPPED"), "\(told)")
    }

    @Test(arguments: [0, 1]) func `a source that stays away for longer ends it`(_ window: Int) throws {
        let (gateway, publish) = try replicated(window: window)
        gateway.end(publish)
        gateway.until("it is over") { gateway.record(Self.key)?.state == .stopped }
        gateway.until("the history says so") { names(gateway, on: "A").contains("REPLICATION_STOPPED") }
        _ = gateway.publish("p", on: "A")
        gateway.turn(.milliseconds(200))
        #expect(gateway.replicas.isEmpty)
    }

    @Test func `a takeover of the source takes its replica along, which nobody sees leave`() throws {
        // A machine that stands still meanwhile must not look like a successor that does not come.
        let (gateway, _) = try replicated(lingering: .seconds(3))
        _ = try #require(gateway.publish("p", on: "A", takeOver: true))
        gateway.until("the successor's replica") { gateway.replicas.count == 1 }
        gateway.turn(.milliseconds(3_500))
        #expect(gateway.replicas.count == 1 && gateway.record(Self.key)?.state == .active)
        #expect(names(gateway, on: "B") == ["JOINED", "PUBLISH_STARTED"])
    }

    @Test func `another publish that takes the replica's place on its stage ends the replication`() throws {
        let (gateway, publish) = try replicated()
        _ = try #require(gateway.publish("p", on: "B", takeOver: true))
        gateway.until("it is over") { gateway.record(Self.key)?.state == .stopped && gateway.replicas.isEmpty }
        #expect(!publish.isOver)
        #expect(gateway.live([Self.key.source, Self.key.destination]).count == 2)
    }

    @Test func `a full stage and a taken name refuse it, and nothing is left of that`() throws {
        let gateway = try SmallGateway(stages: ["A", "B"])
        _ = gateway.publish("p", on: "A")
        for number in 0..<12 { _ = gateway.publish("b\(number)", on: "B") }
        gateway.start(Self.key, window: 0)
        gateway.until("it is refused") { gateway.record(Self.key)?.state == .refused }
        #expect(gateway.record(Self.key)?.refusedBy == RefusalCode.stageFull.number)
        #expect(gateway.replicas.isEmpty && gateway.live([Self.key.destination]).isEmpty)
        #expect(!names(gateway, on: "A").contains("REPLICATION_STARTED"))
    }

    @Test func `a start whose publisher has gone is forgotten`() {
        var machine = WindowMachine()
        let record = Replication(Self.key, number: "n", startedAt: .init(secondsSince1970: 0))
        func look(_ seconds: Int64) -> [WindowMachine.Action] {
            machine.look(at: [record], live: [], sessions: [:], .zero + .seconds(seconds))
        }
        #expect(look(0) == [] && look(29) == [])
        #expect(look(30) == [.forget(record)])
    }

    @Test func `whoever comes back for less than a look and is lost again has its whole window`() {
        var machine = WindowMachine()
        var record = Replication(Self.key, number: "n", reconnectWindow: 30, startedAt: .init(secondsSince1970: 0))
        (record.state, record.sourceGeneration) = (.active, 1)
        func look(_ seconds: Int64) -> [WindowMachine.Action] {
            machine.look(at: [record], live: [], sessions: [:], .zero + .seconds(seconds))
        }
        #expect(look(0) == [] && look(25) == [])
        record.sourceGeneration = 2
        #expect(look(27) == [] && look(56) == [])
        #expect(look(57) == [.stop(record)])
    }

    /// What is said of a former session would stand for ever.
    @Test func `where a window outlives a session, the replication goes on in the next one alone`() {
        let now = WallTime(secondsSince1970: 0)
        var before = Replication(Self.key, number: "n", reconnectWindow: 300, startedAt: now)
        (before.state, before.sourceSessionID, before.destinationSessionID) = (.active, "st-1", "st-2")
        func told(_ after: Replication) -> [String] {
            after.activeWrites(after: before, at: now).map { write in
                guard case .replication(let replication, _, let session, _) = write else { return "event" }
                return "\(replication.part) \(session) \(replication.isActive)"
            }
        }
        #expect(told(before) == ["source st-1 true", "replica st-2 true"])
        var after = before
        after.sourceSessionID = "st-3"
        let former = ["source st-1 false", "replica st-2 false"]
        #expect(told(after) == former + ["source st-3 true", "replica st-2 true"])
        before.state = .starting
        #expect(told(after) == ["event", "source st-3 true", "replica st-2 true"])
    }

    @Test func `a deleted destination ends it, and a deleted source takes all with it`() throws {
        let (gateway, publish) = try replicated(window: 60)
        gateway.start(SmallGateway.key("p", "A", "C"), window: 60)
        gateway.until("both") { gateway.replicas.count == 2 }
        gateway.deleteStage("B")
        gateway.until("one is left") { gateway.replicas.map(\.grant.stageID) == ["C"] }
        #expect(!publish.isOver)
        gateway.deleteStage("A")
        gateway.until("none is left") { gateway.replicas.isEmpty && publish.isOver }
        #expect(gateway.store.state.replications.isEmpty)
        #expect(gateway.live([Self.key.source, Self.key.destination, SmallGateway.key("p", "A", "C").destination]).isEmpty)
    }
}
