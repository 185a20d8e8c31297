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
    /// What is recorded of a participant of a stage with this configuration, whose storage is the bucket `rec`.
    /// - Parameter isNamed: by the node's file.
    private func plan(
        _ recording: RecordingConfiguration, isNamed: Bool = true, isReplica: Bool = false
    ) throws -> RecordingPlan? {
        let (folder, names) = (try TemporaryDirectory(), ResourceName())
        let now = WallTime(secondsSince1970: 1_800_000_000)
        let store = try EmbeddedStore(
            directory: folder.path,
            seeding: { transaction in
                var stage = Stage(arn: names.arn(.stage, "one"), name: "", createdAt: now)
                stage.recording = recording
                transaction.put(stage)
                transaction.put(StorageConfiguration(arn: Self.storageARN, bucketName: "rec", createdAt: now))
            })
        defer { store.close() }
        var configuration = StagedoorConfiguration()
        if isNamed { configuration.storage["rec"] = StorageSettings(directory: folder.path + "/rec") }
        let service = try StorageService(configuration, metrics: MetricsRegistry())
        defer { service.stop() }
        let director = StageDirector(store: store, names: names, uploads: service.uploads, node: "a")
        let participant = RecordedParticipant(stageID: "one", stageSessionID: "st-1", participantID: "p")
        return director.plan(for: participant, isReplica: isReplica)
    }

    private static let storageARN = ResourceName().arn(.storageConfiguration, "disk")

    private static func recording(_ change: (inout RecordingConfiguration) -> Void) -> RecordingConfiguration {
        var recording = RecordingConfiguration()
        recording.storageARN = storageARN
        change(&recording)
        return recording
    }

    /// It is another node's, whose file names the bucket: that one ends it.
    @Test(arguments: [true, false])
    func `a node goes on with no recording of a bucket that its file does not name`(isNamed: Bool) throws {
        let planned = try #require(try plan(Self.recording { $0.reconnectWindow = 30 }, isNamed: isNamed))
        #expect(planned.bucket == "rec" && planned.reconnectWindow == (isNamed ? .seconds(30) : .zero))
    }

    @Test(
        arguments: [
            (.audioAndVideo, .audioAndVideo, true), (.audioOnly, .audioOnly, false), (.none, .thumbnailsAlone, true),
        ] as [(RecordingConfiguration.Media, RecordingPlan.Media, Bool)])
    func `what the stage says is recorded, and sound alone has no thumbnails`(
        _ said: RecordingConfiguration.Media, _ media: RecordingPlan.Media, _ hasThumbnails: Bool
    ) throws {
        let recording = Self.recording {
            ($0.media, $0.segmentDuration) = (said, 2)
            ($0.thumbnails.isEnabled, $0.thumbnails.interval, $0.thumbnails.storage) = (true, 5, [.latest])
        }
        let planned = try #require(try plan(recording))
        #expect(planned.media == media && planned.segmentDuration == 2)
        let thumbnails = RecordingPlan.Thumbnails(interval: 5, keepsAll: false, keepsLatest: true)
        #expect(planned.thumbnails == (hasThumbnails ? thumbnails : nil))
    }

    @Test func `nothing is recorded where it is off, of replicas that are left out, and where there is nothing to make`() throws {
        #expect(try plan(RecordingConfiguration()) == nil)
        #expect(try plan(Self.recording { $0.media = .none }) == nil)
        #expect(try plan(Self.recording { $0.storageARN += "x" }) == nil, "its storage configuration is gone")
        for recordsReplicas in [true, false] {
            let recording = Self.recording { $0.recordsReplicas = recordsReplicas }
            #expect(try plan(recording) != nil)
            #expect(try (plan(recording, isReplica: true) != nil) == recordsReplicas)
        }
    }
}
