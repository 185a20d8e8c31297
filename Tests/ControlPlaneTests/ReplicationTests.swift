import Admission
import EventLoop
import HTTP
import JSON
import Refusals
import Testing
import Wire

@testable import ControlPlane
@testable import Store

@Suite("Replication by the API")
struct ReplicationTests {
    private final class Holder: LeaseHolder {
        let ends = Lock<[LeaseEnd]>([])
        let lease = Lock<PublishLease?>(nil)
        var lastProgress: MonotonicTime { .zero }
        var hasEnded: Bool { false }
        func end(_ reason: LeaseEnd) { ends.withLock { $0.append(reason) } }
    }

    let bench: APIBench
    let source: String
    let destinations: [String]

    init() throws {
        let bench = try APIBench()
        (self.bench, source) = (bench, try bench.makeStage())
        destinations = try (0..<6).map { _ in try bench.makeStage() }
    }

    private func publish(_ participant: String, on stage: String) -> Holder {
        let holder = Holder()
        let grant = PublishGrant(
            participantID: participant, stageARN: stage, stageID: ResourceName.identifier(inARN: stage), credentialHash: "h")
        bench.leases.claimPublish(grant, protocol: .whip, holder: holder, takeOver: false) { answer in
            if case .granted(let lease) = answer { holder.lease.withLock { $0 = lease } }
        }
        return holder
    }

    /// A worker that takes every replica, or refuses it.
    private func answer(refusing refusal: Int? = nil) {
        bench.observers.add { [store = bench.store] state in
            for record in state.replications.values where record.state == .starting {
                store.write { transaction in
                    if let refusal {
                        transaction.refuse(record.key, number: record.number, refusedBy: refusal)
                    } else {
                        _ = transaction.activate(
                            record.key, number: record.number, sourceSessionID: "st-a", destinationSessionID: "st-b",
                            generation: 7)
                    }
                } reply: { _ in
                }
            }
        }
    }

    private func call(_ operation: String, to destination: String, _ more: JSONObject = [:]) throws -> String? {
        var input = more
        (input["sourceStageArn"], input["destinationStageArn"]) = (.string(source), .string(destination))
        if input["participantId"] == nil { input["participantId"] = "p" }
        return try bench.call(operation, input).type
    }

    private func start(_ destination: String, _ more: JSONObject = [:]) throws -> String? {
        try call("StartParticipantReplication", to: destination, more)
    }

    private func states() throws -> [String?] {
        let listed = try bench.call("ListParticipantReplicas", ["sourceStageArn": .string(source), "participantId": "p"])
        return listed.output["replicas"]?.array?.map { $0["replicationState"]?.string } ?? []
    }

    @Test func `it is started, listed, stopped, and started again`() throws {
        _ = publish("p", on: source)
        answer()
        #expect(try states() == [])
        #expect(try start(destinations[0], ["reconnectWindowSeconds": 300, "attributes": ["a": "b"]]) == nil)
        let record = try #require(bench.store.state.replications.values.first)
        #expect(record.reconnectWindow == 300 && record.attributes == ["a": "b"])
        #expect(try states() == ["ACTIVE"])
        #expect(try start(destinations[0]) == "ConflictException")
        #expect(try call("StopParticipantReplication", to: destinations[0]) == nil)
        #expect(try states() == ["STOPPED"])
        #expect(try call("StopParticipantReplication", to: destinations[0]) == "ResourceNotFoundException")
        #expect(try start(destinations[0]) == nil)
    }

    @Test func `one that waits for its destination is not told to be active`() throws {
        _ = publish("p", on: source)
        answer()
        #expect(try start(destinations[0]) == nil)
        let record = try #require(bench.store.state.replications.values.first)
        bench.store.write { transaction in
            _ = transaction.wait(record.key, number: record.number, refusedBy: RefusalCode.stageFull.number)
        } reply: { _ in
        }
        // The store writes one after the other.
        _ = try bench.makeStage()
        #expect(try states() == ["STOPPED"])
        #expect(try start(destinations[0]) == "ConflictException")
        #expect(try call("StopParticipantReplication", to: destinations[0]) == nil)
    }

    @Test func `five at a time, and pages of the list`() throws {
        _ = publish("p", on: source)
        answer()
        for destination in destinations.prefix(5) { #expect(try start(destination) == nil) }
        #expect(try start(destinations[5]) == "ServiceQuotaExceededException")
        #expect(try call("StopParticipantReplication", to: destinations[0]) == nil)
        #expect(try start(destinations[5]) == nil)
        var (seen, token) = ([String](), JSONValue?.none)
        repeat {
            var input: JSONObject = ["sourceStageArn": .string(source), "participantId": "p", "maxResults": 4]
            if let token { input["nextToken"] = token }
            let page = try bench.call("ListParticipantReplicas", input).output
            seen += page["replicas"]?.array?.compactMap { $0["destinationStageArn"]?.string } ?? []
            token = page["nextToken"]
        } while token != nil
        #expect(Set(seen) == Set(destinations) && seen.count == 6)
    }

    @Test(
        arguments: [
            (["reconnectWindowSeconds": 301], "ValidationException"), (["participantId": "nobody"], "ResourceNotFoundException"),
            (["attributes": ["a": 1]], "ValidationException"),
        ] as [(JSONObject, String)])
    func `what cannot be is refused`(_ input: JSONObject, _ error: String) throws {
        _ = publish("p", on: source)
        #expect(try start(destinations[0], input) == error)
        #expect(bench.store.state.replications.isEmpty)
    }

    @Test func `stages must be two, and there`() throws {
        _ = publish("p", on: source)
        #expect(try start(source) == "ValidationException")
        #expect(try start(ResourceName().arn(.stage, "nowhere")) == "ResourceNotFoundException")
    }

    @Test func `a name that is taken on the destination is a conflict, and a replica is no source`() throws {
        _ = publish("p", on: source)
        _ = publish("p", on: destinations[0])
        #expect(try start(destinations[0]) == "ConflictException")
        answer()
        #expect(try start(destinations[1]) == nil)
        let input: JSONObject = [
            "sourceStageArn": .string(destinations[1]), "destinationStageArn": .string(destinations[2]), "participantId": "p",
        ]
        #expect(try bench.call("StartParticipantReplication", input).type == "ValidationException")
    }

    /// The stage sees neither encoder of a redundant pair, so nothing of it can stand on another one.
    @Test func `an encoder of a redundant pair is no source, and what the stage sees of the pair is one`() throws {
        let made = try bench.call(
            "CreateIngestConfiguration", ["ingestProtocol": "RTMPS", "stageArn": .string(source), "redundantIngest": true])
        let configuration = try #require(made.output["ingestConfiguration"])
        let joined = try #require(configuration["participantId"]?.string)
        let encoder = try #require(configuration["redundantIngestCredentials"]?[1]?["participantId"]?.string)
        for participant in [joined, encoder] { _ = publish(participant, on: source) }
        answer()
        var input: JSONObject = ["sourceStageArn": .string(source), "destinationStageArn": .string(destinations[0])]
        input["participantId"] = .string(encoder)
        let refused = try bench.call("StartParticipantReplication", input)
        #expect(refused.type == "ValidationException")
        #expect(refused.output["message"]?.string?.contains(joined) == true)
        #expect(bench.store.state.replications.isEmpty)
        #expect(try start(destinations[0], ["participantId": .string(joined)]) == nil)
    }

    /// It has the records as they were when its place was taken.
    @Test func `who publishes through the process before this one is not replicated`() throws {
        let holder = RemoteHolder(progress: .zero, onEnd: { _ in })
        let grant = PublishGrant(
            participantID: "p", stageARN: source, stageID: ResourceName.identifier(inARN: source), credentialHash: "h")
        bench.leases.claimPublish(grant, protocol: .whip, holder: holder, takeOver: false) { _ in }
        answer()
        #expect(try start(destinations[0]) == "ConflictException")
        #expect(bench.store.state.replications.isEmpty)
    }

    @Test(arguments: [
        (RefusalCode.stageFull, "ServiceQuotaExceededException"), (.streamKeyInUse, "ConflictException"),
    ])
    func `a destination that refuses leaves nothing behind`(_ refusal: RefusalCode, _ error: String) throws {
        _ = publish("p", on: source)
        answer(refusing: refusal.number)
        #expect(try start(destinations[0]) == error)
        #expect(bench.store.state.replications.isEmpty)
    }

    @Test func `a replica that is disconnected is no longer replicated, and its source stays`() throws {
        let holder = publish("p", on: source)
        answer()
        #expect(try start(destinations[0]) == nil)
        let replica: JSONObject = ["stageArn": .string(destinations[0]), "participantId": "p"]
        _ = publish("p", on: destinations[0])
        #expect(try bench.call("DisconnectParticipant", replica).status == .ok)
        #expect(try states() == ["STOPPED"])
        #expect(holder.ends.withLock { $0.isEmpty })
        #expect(!bench.store.state.isRevoked(participantID: "p", stageARN: destinations[0], at: EventLoop.wallNow()))
        #expect(try start(destinations[1]) == nil)
        let own: JSONObject = ["stageArn": .string(source), "participantId": "p"]
        #expect(try bench.call("DisconnectParticipant", own).status == .ok)
        #expect(try states() == ["STOPPED", "STOPPED"])
        #expect(holder.ends.withLock { $0.first } == .disconnected(Refusal(.participantDisconnected)))
    }

    /// Nobody can come back as its participant, however long the window is.
    @Test func `a deleted ingest configuration takes its participant's replicas with it`() throws {
        let made = try bench.call("CreateIngestConfiguration", ["ingestProtocol": "RTMPS", "stageArn": .string(source)])
        let configuration = try #require(made.output["ingestConfiguration"])
        let participant = try #require(configuration["participantId"])
        _ = publish(try #require(participant.string), on: source)
        answer()
        #expect(try start(destinations[0], ["participantId": participant, "reconnectWindowSeconds": 300]) == nil)
        let arn = try #require(configuration["arn"])
        #expect(try bench.call("DeleteIngestConfiguration", ["arn": arn, "force": true]).status == .ok)
        let left = ["sourceStageArn": .string(source), "participantId": participant] as JSONObject
        let replicas = try bench.call("ListParticipantReplicas", left).output["replicas"]
        #expect(replicas?[0]?["replicationState"] == "STOPPED")
    }

    @Test func `an ingest configuration that leaves its stage leaves no replicas behind`() throws {
        let made = try bench.call("CreateIngestConfiguration", ["ingestProtocol": "RTMPS", "stageArn": .string(source)])
        let configuration = try #require(made.output["ingestConfiguration"])
        let (arn, participant) = (try #require(configuration["arn"]), try #require(configuration["participantId"]))
        let holder = publish(try #require(participant.string), on: source)
        answer()
        #expect(try start(destinations[0], ["participantId": participant, "reconnectWindowSeconds": 300]) == nil)
        bench.leases.release(try #require(holder.lease.withLock { $0 }))
        func state(after stage: String) throws -> JSONValue? {
            #expect(try bench.call("UpdateIngestConfiguration", ["arn": arn, "stageArn": .string(stage)]).status == .ok)
            let listed = ["sourceStageArn": .string(source), "participantId": participant] as JSONObject
            return try bench.call("ListParticipantReplicas", listed).output["replicas"]?[0]?["replicationState"]
        }
        #expect(try state(after: source) == "ACTIVE")
        #expect(try state(after: destinations[1]) == "STOPPED")
    }

    @Test func `a deleted stage stops what is replicated to it, and takes what is replicated from it`() throws {
        _ = publish("p", on: source)
        answer()
        for destination in destinations.prefix(2) { #expect(try start(destination) == nil) }
        #expect(try bench.call("DeleteStage", ["arn": .string(destinations[0])]).status == .ok)
        #expect(try Set(states()) == ["ACTIVE", "STOPPED"])
        #expect(try bench.call("DeleteStage", ["arn": .string(source)]).status == .ok)
        #expect(bench.store.state.replications.isEmpty)
    }
}
