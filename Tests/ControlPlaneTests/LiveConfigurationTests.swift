import Admission
import EventLoop
import HTTP
import JSON
import Refusals
import Store
import TestSupport
import Testing
import Wire

@testable import ControlPlane

@Suite("Ingest configurations that publish, and what ends with a stage")
struct LiveConfigurationTests {
    private struct Made {
        var arn: JSONValue
        var participant: String
        var stage: String
        var publish: LivePublish
    }

    private static func live(on bench: APIBench) throws -> Made {
        let stage = try bench.makeStage()
        let made = try bench.call("CreateIngestConfiguration", ["ingestProtocol": "RTMPS", "stageArn": .string(stage)])
        let configuration = try #require(made.output["ingestConfiguration"])
        let participant = try #require(configuration["participantId"]?.string)
        return Made(
            arn: try #require(configuration["arn"]), participant: participant, stage: stage,
            publish: try bench.publish(participant, on: stage))
    }

    @Test func `one that publishes is ACTIVE, and is neither changed nor deleted`() throws {
        let bench = try APIBench()
        let live = try Self.live(on: bench)
        let shown = try bench.call("GetIngestConfiguration", ["arn": live.arn]).output["ingestConfiguration"]
        #expect(shown?["state"] == "ACTIVE")
        let listed = try bench.call("ListIngestConfigurations", ["filterByState": "ACTIVE"]).output
        #expect(listed["ingestConfigurations"]?.array?.count == 1)
        for (operation, input) in [
            ("UpdateIngestConfiguration", ["arn": live.arn, "stageArn": ""]),
            ("UpdateIngestConfiguration", ["arn": live.arn, "redundantIngest": true]),
            ("DeleteIngestConfiguration", ["arn": live.arn]), ("DeleteIngestConfiguration", ["arn": live.arn, "force": false]),
        ] as [(String, JSONObject)] {
            let refused = try bench.call(operation, input)
            #expect(refused.status == .conflict && refused.type == "ConflictException", "\(operation) \(input)")
        }
        #expect(!live.publish.hasEnded)
    }

    @Test func `are listed by stage, or by whether they publish`() throws {
        let bench = try APIBench()
        let live = try Self.live(on: bench)
        let idle = try [live.stage, try bench.makeStage()].map { stage in
            let made = try bench.call("CreateIngestConfiguration", ["ingestProtocol": "RTMPS", "stageArn": .string(stage)])
            return try #require(made.output["ingestConfiguration"]?["arn"]?.string)
        }
        func listed(_ filter: JSONObject) throws -> Set<String> {
            let output = try bench.call("ListIngestConfigurations", filter).output
            return Set(output["ingestConfigurations"]?.array?.compactMap { $0["arn"]?.string } ?? [])
        }
        let active = try #require(live.arn.string)
        #expect(try listed(["filterByStageArn": .string(live.stage)]) == [active, idle[0]])
        #expect(try listed(["filterByState": "ACTIVE"]) == [active])
        #expect(try listed(["filterByState": "INACTIVE"]) == Set(idle))
        #expect(try listed([:]) == Set(idle + [active]))
    }

    @Test func `force deletes it, and ends its publish`() throws {
        let bench = try APIBench()
        let live = try Self.live(on: bench)
        #expect(try bench.call("DeleteIngestConfiguration", ["arn": live.arn, "force": true]).status == .ok)
        guard case .disconnected(let refusal) = live.publish.end.withLock({ $0 }) else {
            Issue.record("it goes on")
            return
        }
        #expect(refusal.code == .participantDisconnected)
        #expect(try bench.call("GetIngestConfiguration", ["arn": live.arn]).status == .notFound)
        #expect(try bench.call("DeleteIngestConfiguration", ["arn": live.arn, "force": true]).status == .notFound)
        #expect(try bench.call("DeleteIngestConfiguration", ["arn": live.arn]).status == .notFound)
    }

    @Test func `deleting a stage ends its publishes and detaches its configurations, and no others`() throws {
        let bench = try APIBench()
        let (gone, stays) = (try Self.live(on: bench), try Self.live(on: bench))
        #expect(try bench.call("DeleteStage", ["arn": .string(gone.stage)]).status == .ok)
        guard case .disconnected(let refusal) = gone.publish.end.withLock({ $0 }) else {
            Issue.record("it goes on")
            return
        }
        #expect(refusal.code == .stageDeleted && !stays.publish.hasEnded)
        func stage(of live: Made) throws -> JSONValue? {
            try bench.call("GetIngestConfiguration", ["arn": live.arn]).output["ingestConfiguration"]?["stageArn"]
        }
        #expect(try stage(of: gone) == "")
        #expect(try stage(of: stays) == .string(stays.stage))
    }

    @Test func `the thousandth stage is the last one, the hundredth ingest configuration too`() throws {
        let bench = try APIBench()
        let isKept = Lock(false)
        bench.store.write { transaction in
            for number in 1..<1_000 {
                transaction.put(Stage(arn: ResourceName().arn(.stage, "s\(number)"), createdAt: WallTime(secondsSince1970: 0)))
            }
            for number in 1..<100 {
                transaction.put(
                    IngestConfiguration(
                        arn: ResourceName().arn(.ingestConfiguration, "c\(number)"), participantID: "p\(number)",
                        streamKey: Secret("key \(number)"), transport: .rtmps, insecureIngest: false,
                        createdAt: WallTime(secondsSince1970: 0)))
            }
        } reply: { _ in
            isKept.withLock { $0 = true }
        }
        #expect(waitUntil { isKept.withLock { $0 } })
        for (operation, input) in [("CreateStage", [:]), ("CreateIngestConfiguration", ["ingestProtocol": "RTMPS"])]
            as [(String, JSONObject)]
        {
            #expect(try bench.call(operation, input).status == .ok)
            let refused = try bench.call(operation, input)
            #expect(refused.status.code == 402 && refused.type == "ServiceQuotaExceededException", "\(operation)")
        }
    }

    /// An ingest configuration for two encoders, and their participants.
    private func makePair(_ bench: APIBench, on stage: String) throws -> (configuration: JSONValue, participants: [String]) {
        let made = try bench.call(
            "CreateIngestConfiguration", ["ingestProtocol": "RTMPS", "stageArn": .string(stage), "redundantIngest": true])
        let configuration = try #require(made.output["ingestConfiguration"])
        let pair = configuration["redundantIngestCredentials"]?.array?.compactMap { $0["participantId"]?.string } ?? []
        return (configuration, pair)
    }

    @Test(arguments: 0..<3)
    func `disconnecting one of a redundant pair, or what the stage sees of them, ends all three`(index: Int) throws {
        let bench = try APIBench()
        let stage = try bench.makeStage()
        let (configuration, pair) = try makePair(bench, on: stage)
        let participants = pair + [try #require(configuration["participantId"]?.string)]
        let publishes = try participants.map { try bench.publish($0, on: stage) }
        let input: JSONObject = ["stageArn": .string(stage), "participantId": .string(participants[index]), "reason": "over"]
        #expect(try bench.call("DisconnectParticipant", input).status == .ok)
        for publish in publishes {
            guard case .disconnected(let refusal) = publish.end.withLock({ $0 }) else {
                Issue.record("one goes on")
                continue
            }
            #expect(refusal.code == .participantDisconnected && refusal.sentence.contains("over"))
        }
        let shown = try bench.call("GetIngestConfiguration", ["arn": configuration["arn"] ?? nil]).output
        #expect(shown["ingestConfiguration"]?["stageArn"] == "")
    }

    /// Each participant of a redundant pair says so, and the one beside them does not.
    @Test func `a participant of a redundant pair is told as one`() throws {
        let bench = try APIBench()
        let stage = try bench.makeStage()
        let (configuration, pair) = try makePair(bench, on: stage)
        let participants = pair + [try #require(configuration["participantId"]?.string)]
        let arn = try #require(configuration["arn"]?.string)
        for participant in participants { try bench.start(participant, on: stage, by: arn) }
        let sessions = try bench.call("ListStageSessions", ["stageArn": .string(stage)]).output["stageSessions"]
        let session = try #require(sessions?[0]?["sessionId"])
        for participant in participants {
            let input: JSONObject = ["stageArn": .string(stage), "sessionId": session, "participantId": .string(participant)]
            let shown = try bench.call("GetParticipant", input).output["participant"]
            #expect(shown?["redundantIngest"] == .bool(pair.contains(participant)), "\(participant)")
            #expect(shown?["ispName"] == "" && shown?["userId"] == "" && shown?["published"] == true)
            #expect(shown?["protocol"] == "RTMPS" && shown?["ingestConfigurationArn"]?.string == arn)
        }
    }
}
