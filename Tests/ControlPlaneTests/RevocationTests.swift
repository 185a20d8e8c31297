import Admission
import EventLoop
import HTTP
import JSON
import OpenSSL
import Refusals
import Store
import Testing
import Wire

@testable import ControlPlane

@Suite("Taking rights away")
struct RevocationTests {
    @Test func `deleting a public key ends the publishes of its tokens, and no others`() throws {
        let bench = try APIBench()
        let stage = try bench.makeStage()
        let keys = try (0..<2).map { _ in
            let pem = String(decoding: try ES384PrivateKey.generate().publicKey.pem, as: UTF8.self)
            let made = try bench.call("ImportPublicKey", ["publicKeyMaterial": .string(pem)])
            return try #require(made.output["publicKey"]?["arn"]?.string)
        }
        let publishes = try [keys[0], keys[1], nil].enumerated().map { number, key in
            try bench.publish("p\(number)", on: stage, key: key)
        }
        #expect(try bench.call("DeletePublicKey", ["arn": .string(keys[0])]).status == .ok)
        guard case .disconnected(let refusal) = publishes[0].end.withLock({ $0 }) else {
            Issue.record("the first goes on")
            return
        }
        #expect(refusal.code == .tokenRejected && refusal.sentence.contains("public key"))
        #expect(!publishes[1].hasEnded && !publishes[2].hasEnded)
    }

    @Test(arguments: [
        ("genug für heute", "Disconnected by the operator: genug für heute"), ("", RefusalCode.participantDisconnected.sentence),
    ])
    func `who publishes by a token hears why it ends, and is shut out for as long as a token may live`(
        _ reason: String, _ sentence: String
    ) throws {
        let bench = try APIBench()
        let stage = try bench.makeStage()
        let (publish, other) = (try bench.publish("p", on: stage), try bench.publish("q", on: stage))
        let input: JSONObject = ["stageArn": .string(stage), "participantId": "p", "reason": .string(reason)]
        #expect(try bench.call("DisconnectParticipant", input).status == .ok)
        let end = publish.end.withLock { $0 }
        #expect(end == .disconnected(Refusal(.participantDisconnected, sentence: sentence)) && !other.hasEnded)
        func isShutOut(after days: Int) -> Bool {
            let then = EventLoop.wallNow() + .seconds(days * 86_400)
            return bench.store.state.isRevoked(participantID: "p", stageARN: stage, at: then)
        }
        #expect(isShutOut(after: 14) && !isShutOut(after: 15))
    }

    @Test func `a participant that only watches is disconnected, one that nobody knows is not found`() throws {
        let watching = Lock<Set<StageParticipant>>([])
        let bench = try APIBench(isWatching: { participant in watching.withLock { $0.contains(participant) } })
        let stage = try bench.makeStage()
        func disconnect() throws -> Int {
            let input: JSONObject = ["stageArn": .string(stage), "participantId": "viewer"]
            return Int(try bench.call("DisconnectParticipant", input).status.code)
        }
        #expect(try disconnect() == 404)
        watching.withLock { _ = $0.insert(StageParticipant("viewer", of: stage)) }
        #expect(try disconnect() == 200)
        #expect(bench.store.state.isRevoked(participantID: "viewer", stageARN: stage, at: EventLoop.wallNow()))
    }
}
