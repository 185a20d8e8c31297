import GatewayMetrics
import ObjectStorage
import Recording
import Settings
import Store
import TestSupport
import Testing
import Wire

@testable import Node

@Suite("What of a participant is recorded")
struct StageDirectorTests {
    /// It is another node's, whose file names the bucket: that one ends it.
    @Test(arguments: [true, false])
    func `a node goes on with no recording of a bucket that its file does not name`(isNamed: Bool) throws {
        let (folder, names) = (try TemporaryDirectory(), ResourceName())
        let (stageARN, storageARN) = (names.arn(.stage, "one"), names.arn(.storageConfiguration, "disk"))
        let now = WallTime(secondsSince1970: 1_800_000_000)
        let store = try EmbeddedStore(
            directory: folder.path,
            seeding: { transaction in
                var stage = Stage(arn: stageARN, name: "", createdAt: now)
                (stage.recording.storageARN, stage.recording.reconnectWindow) = (storageARN, 30)
                transaction.put(stage)
                transaction.put(StorageConfiguration(arn: storageARN, bucketName: "rec", createdAt: now))
            })
        defer { store.close() }
        var configuration = StagedoorConfiguration()
        if isNamed { configuration.storage["rec"] = StorageSettings(directory: folder.path + "/rec") }
        let service = try StorageService(configuration, metrics: MetricsRegistry())
        defer { service.stop() }
        let director = StageDirector(store: store, names: names, uploads: service.uploads, node: "a")
        let participant = RecordedParticipant(stageID: "one", stageSessionID: "st-1", participantID: "p")
        let plan = try #require(director.plan(for: participant, isReplica: false))
        #expect(plan.bucket == "rec" && plan.reconnectWindow == (isNamed ? .seconds(30) : .zero))
    }
}
