import Admission
import EventLoop
import Foundation
import TestSupport
import Testing
import Wire

@testable import Store

extension EmbeddedStore {
    /// For tests: a write as a suspension.
    func write<Value: Sendable>(_ body: @escaping @Sendable (inout StateTransaction) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in write(body) { continuation.resume(with: $0) } }
    }

    func read<Value: Sendable>(_ body: @escaping @Sendable (any HistoryReading) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in read(body) { continuation.resume(with: $0) } }
    }
}

@Suite("Embedded store")
struct EmbeddedStoreTests {
    let directory: TemporaryDirectory
    static let now = WallTime(secondsSince1970: 1_800_000_000)

    init() throws { directory = try TemporaryDirectory() }

    private func open() throws -> EmbeddedStore { try EmbeddedStore(directory: directory.path) }

    static func stage(_ id: String) -> Stage {
        Stage(arn: ResourceName().arn(.stage, id), name: "n-\(id)", tags: ["team": "ü"], createdAt: now)
    }

    static func storage(_ id: String) -> StorageConfiguration {
        StorageConfiguration(
            arn: ResourceName().arn(.storageConfiguration, id), name: "s", bucketName: "my.bucket", tags: ["t": "u"],
            createdAt: now)
    }

    static var replication: Replication {
        var replication = Replication(
            .init("p", from: stage("one").arn, to: stage("two").arn), number: "n", attributes: ["a": "ü"], reconnectWindow: 300,
            startedAt: now)
        (replication.state, replication.refusedBy, replication.sourceGeneration) = (.active, 1_005, 1 << 52)
        (replication.sourceSessionID, replication.destinationSessionID) = ("st-1", "st-2")
        return replication
    }

    static func recordedStage(_ id: String) -> Stage {
        var stage = stage(id)
        stage.recording.storageARN = storage("s").arn
        (stage.recording.media, stage.recording.reconnectWindow, stage.recording.segmentDuration) = (.audioOnly, 300, 2)
        stage.recording.recordsReplicas = false
        stage.recording.thumbnails.storage = [.latest, .sequential]
        (stage.recording.thumbnails.isEnabled, stage.recording.thumbnails.interval) = (true, 86_400)
        return stage
    }

    static func configuration(_ id: String, stage: String = "") -> IngestConfiguration {
        var configuration = IngestConfiguration(
            arn: ResourceName().arn(.ingestConfiguration, id), stageARN: stage, participantID: "p-\(id)",
            streamKey: Secret(ResourceName().streamKey(identifier: id, secret: "s3cret")), transport: .rtmps,
            insecureIngest: false, createdAt: now)
        (configuration.userID, configuration.attributes, configuration.tags) = ("user", ["a": "b"], ["t": ""])
        configuration.redundantIngest = true
        configuration.redundantCredentials = [.init(participantID: "r-\(id)", streamKey: Secret("rt_0_r_\(id)_second"))]
        return configuration
    }

    @Test
    func `every record survives closing and opening`() async throws {
        let key = PublicKey(
            arn: ResourceName().arn(.publicKey, "k"), name: "key", material: "PEM", fingerprint: "00:11", tags: ["x": "y"],
            createdAt: Self.now)
        let revocation = Revocation(stageARN: "arn", participantID: "p", expiresAt: Self.now)
        let store = try open()
        let placement = try await store.write { transaction in
            transaction.put(Self.stage("one"))
            transaction.put(Self.recordedStage("two"))
            transaction.put(Self.storage("s"))
            transaction.put(key)
            transaction.put(Self.configuration("c", stage: Self.stage("one").arn))
            transaction.put(revocation)
            transaction.put(Self.replication)
            transaction.setSetting("name", to: Secret("value"))
            return transaction.place(.init(stageID: "one", replica: 0), on: "a", expected: nil, now: Self.now)
        }
        store.close()
        let state = try open().state
        let (one, two) = (Self.stage("one"), Self.recordedStage("two"))
        #expect(state.stages == [one.arn: one, two.arn: two])
        #expect(state.storageConfigurations == [Self.storage("s").arn: Self.storage("s")])
        #expect(state.publicKeys == [key.arn: key])
        #expect(state.ingestConfigurations.values.map { $0 } == [Self.configuration("c", stage: Self.stage("one").arn)])
        #expect(state.isRevoked(participantID: "p", stageARN: "arn", at: WallTime(secondsSince1970: 1)))
        #expect(!state.isRevoked(participantID: "p", stageARN: "arn", at: Self.now))
        #expect(state.setting("name") == Secret("value"))
        #expect(state.placements == [placement.key: placement])
        #expect(state.replications == [Self.replication.key: Self.replication])
    }

    @Test
    func `a transaction that throws leaves nothing and hurts no other`() async throws {
        struct Refused: Error {}
        let store = try open()
        await #expect(throws: Refused.self) {
            try await store.write { transaction in
                transaction.put(Self.stage("bad"))
                throw Refused()
            }
        }
        try await store.write { $0.put(Self.stage("good")) }
        #expect(store.state.stages.keys.map { $0 } == [Self.stage("good").arn])
    }

    @Test
    func `writes that wait together are all visible once they are answered`() async throws {
        let store = try open()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for index in 0..<200 {
                group.addTask {
                    try await store.write { $0.put(Self.stage("s\(index)")) }
                    return store.state.stages[Self.stage("s\(index)").arn] != nil
                }
            }
            for try await isVisible in group { #expect(isVisible) }
        }
        store.close()
        #expect(try open().state.stages.count == 200)
    }

    @Test
    func `a closed store says so`() async throws {
        let store = try open()
        store.close()
        await #expect(throws: StoreError.closed) { try await store.write { $0.put(Self.stage("late")) } }
    }

    @Test
    func `files are readable by their owner only`() throws {
        let store = try open()
        for name in ["configuration.sqlite", "configuration.sqlite-wal", "events.sqlite", "events.sqlite-wal"] {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory.path)/\(name)")
            #expect(attributes[.posixPermissions] as? Int == 0o600, "\(name)")
        }
        store.close()
    }

    @Test
    func `a placement moves only from where the mover saw it`() async throws {
        let store = try open()
        let key = Placement.Key(stageID: "one", replica: 0)
        let first = try await store.write { $0.place(key, on: "a", expected: nil, now: Self.now) }
        let lost = try await store.write { $0.place(key, on: "b", expected: nil, now: Self.now) }
        #expect(lost == first)
        let moved = try await store.write { $0.place(key, on: "b", expected: first, now: WallTime(secondsSince1970: 1)) }
        #expect(moved.router == "b")
        #expect(moved.generation == first.generation + 1, "a clock that went back does not make a generation go back")
    }

    @Test
    func `quickstart makes its resources once`() throws {
        var made: [Quickstart] = []
        for _ in 0..<2 {
            let store = try EmbeddedStore(
                directory: directory.path,
                seeding: { made.append(Quickstart(in: &$0, names: ResourceName(), now: Self.now)) })
            #expect(store.state.stages.count == 1)
            #expect(store.state.ingestConfigurations.count == 1)
            store.close()
        }
        #expect(made[0].stage == made[1].stage)
        #expect(made[0].ingestConfiguration == made[1].ingestConfiguration)
        #expect(made[0].accessKeyID == made[1].accessKeyID)
        #expect(made[0].secretAccessKey == made[1].secretAccessKey)
        #expect(made[0].tokenParticipantID == made[1].tokenParticipantID)
        #expect(made[0].ingestConfiguration.insecureIngest)
    }
}
