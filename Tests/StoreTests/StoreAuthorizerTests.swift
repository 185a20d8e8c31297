import Admission
import EventLoop
import Refusals
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Stream keys at the door")
struct StoreAuthorizerTests {
    let directory: TemporaryDirectory
    let store: EmbeddedStore
    let authorizer: StoreAuthorizer
    let stage = EmbeddedStoreTests.stage("one")

    init() async throws {
        directory = try TemporaryDirectory()
        store = try EmbeddedStore(directory: directory.path)
        let leases = EmbeddedLeases(store: store)
        authorizer = StoreAuthorizer(store: store, reports: leases) { _, _, reply in
            reply(.failure(Refusal(.tokenMalformed)))
        }
        let stage = stage
        var insecure = EmbeddedStoreTests.configuration("insecure", stage: stage.arn)
        insecure.insecureIngest = true
        var pair = EmbeddedStoreTests.configuration("pair", stage: stage.arn)
        pair.redundantIngest = true
        pair.redundantCredentials = (1...2).map {
            .init(participantID: "pair-\($0)", streamKey: Secret("rt_0_r_pair_\($0)"))
        }
        insecure.redundantIngest = false
        var secure = EmbeddedStoreTests.configuration("secure", stage: stage.arn)
        secure.redundantIngest = false
        let configurations = [pair, insecure, secure, EmbeddedStoreTests.configuration("detached")]
        try await store.write { transaction in
            transaction.put(stage)
            for configuration in configurations { transaction.put(configuration) }
        }
    }

    private func answer(_ key: String, _ ingestProtocol: IngestProtocol) -> Result<PublishGrant, Refusal> {
        let answer = Lock<Result<PublishGrant, Refusal>>(.failure(Refusal(.internalError)))
        let request = PublishRequest(
            credential: .streamKey(Secret(key)), ingestProtocol: ingestProtocol, source: SocketAddress(.loopback, port: 1),
            userAgent: "FMLE/3.0")
        authorizer.authorize(request) { new in answer.withLock { $0 = new } }
        return answer.withLock { $0 }
    }

    private func key(_ id: String) -> String { ResourceName().streamKey(identifier: id, secret: "s3cret") }

    @Test(arguments: [IngestProtocol.rtmp, .rtmps])
    func `an insecure configuration takes both protocols`(_ ingestProtocol: IngestProtocol) throws {
        let grant = try answer(key("insecure"), ingestProtocol).get()
        #expect(grant.participantID == "p-insecure")
        #expect(grant.stageARN == stage.arn)
        #expect(grant.attributes == ["a": "b"])
        #expect(grant.userAgent == "FMLE/3.0")
    }

    @Test
    func `each of a redundant configuration's two keys is an encoder of the one participant`() throws {
        for number in 1...2 {
            let grant = try answer("rt_0_r_pair_\(number)", .rtmps).get()
            #expect(grant.participantID == "pair-\(number)")
            #expect(grant.redundancy == .encoder(number: number, joined: "p-pair"))
        }
        #expect(try answer(key("secure"), .rtmps).get().redundancy == nil)
    }

    @Test
    func `a redundant configuration's own key publishes nothing, and its words name the two that do`() async throws {
        #expect(throws: Refusal(.redundantStreamKey)) { try answer(key("pair"), .rtmps).get() }
        #expect(RefusalCode.redundantStreamKey.sentence.contains("redundantIngestCredentials"))
        let events = try await store.read { try $0.events(after: 0, limit: 10) }
        #expect(events.map(\.name) == [.joinError, .publishError])
        #expect(events.allSatisfy { $0.errorCode == "INVALID_STREAM_KEY" && $0.participantID == "p-pair" })
    }

    @Test
    func `each wrong use has its own refusal`() {
        #expect(throws: Refusal(.insecureProtocol)) { try answer(key("secure"), .rtmp).get() }
        #expect(throws: Refusal(.detachedStreamKey)) { try answer(key("detached"), .rtmps).get() }
        #expect(throws: Refusal(.unknownStreamKey)) { try answer(key("secure") + "x", .rtmps).get() }
        #expect(throws: Refusal(.unknownStreamKey)) { try answer("", .rtmps).get() }
    }

    /// There is no participant, or no stage's session, whose event it could be.
    @Test
    func `a key that nobody has, or that belongs to no stage, leaves none`() async throws {
        _ = answer(key("secure") + "x", .rtmps)
        _ = answer(key("detached"), .rtmps)
        let events = try await store.read { try $0.events(after: 0, limit: 10) }
        #expect(events.isEmpty)
    }

    @Test
    func `plain RTMP on an RTMPS configuration leaves an event`() async throws {
        _ = answer(key("secure"), .rtmp)
        let events = try await store.read { try $0.events(after: 0, limit: 10) }
        #expect(events.map(\.name) == [.joinError, .publishError])
        #expect(events.allSatisfy { $0.errorCode == "INVALID_PROTOCOL" && $0.participantID == "p-secure" })
    }
}
