import Store
import Testing
import Wire

@testable import ClusterStore

@Suite("Records as Redis keeps them")
struct RecordCodecTests {
    private let schema = KeySchema(prefix: "sd:")
    private let codec = RecordCodec(cipher: RecordCipher(ClusterBench.key))

    private static let records: [Record] = [
        .stage(ClusterBench.stage("one")), .ingestConfiguration(ClusterBench.configuration("c", stage: "arn:stage/one")),
        .publicKey(
            PublicKey(
                arn: ResourceName().arn(.publicKey, "k"), name: "\"key\"\n", material: "PEM\n", fingerprint: "00:11",
                tags: ["x": "y"], createdAt: ClusterBench.now)),
        .revocation(Revocation(stageARN: "arn:stage/one", participantID: "p", expiresAt: ClusterBench.now)),
        .placement(
            {
                var transaction = StateTransaction(StoreState())
                return transaction.place(.init(stageID: "one", replica: 1), on: "a", expected: nil, now: ClusterBench.now)
            }()), .setting(Setting(name: "quickstart.stage", value: Secret("value"))),
        .storageConfiguration(
            StorageConfiguration(
                arn: ResourceName().arn(.storageConfiguration, "s"), name: "disk", bucketName: "recordings", tags: ["x": "y"],
                createdAt: ClusterBench.now)),
        .stage(recordedStage), .replication(replication),
    ]

    private static var replication: Replication {
        var replication = Replication(
            .init("p", from: ResourceName().arn(.stage, "one"), to: ResourceName().arn(.stage, "two")), number: "n",
            attributes: ["a": "b"], reconnectWindow: 300, startedAt: ClusterBench.now)
        (replication.state, replication.refusedBy, replication.sourceGeneration) = (.refused, 1005, 1 << 52)
        (replication.sourceSessionID, replication.destinationSessionID) = ("st-1", "st-2")
        return replication
    }

    private static var recordedStage: Stage {
        var stage = ClusterBench.stage("two")
        stage.recording.storageARN = ResourceName().arn(.storageConfiguration, "s")
        (stage.recording.media, stage.recording.thumbnails.isEnabled, stage.recording.reconnectWindow) = (.none, true, 60)
        return stage
    }

    @Test(arguments: records)
    func `a record reads back as it was written`(record: Record) throws {
        let key = schema.record(record.id)
        #expect(try codec.decode(codec.encode(record, key: key), key: key) == record)
    }

    /// A record of Int64.max, which any JSON in Redis may say, is replaced by one that has one more.
    @Test
    func `generations of more than 63 bits are kept as the greatest`() throws {
        var placement = Placement(key: .init(stageID: "one", replica: 0), router: "a", generation: 1 << 63)
        let key = schema.record(Record.placement(placement).id)
        let text = codec.encode(.placement(placement), key: key)
        placement.generation = UInt64(Int64.max)
        #expect(try codec.decode(text, key: key) == .placement(placement))
    }

    /// With them a recording's playlist, or the time of its next picture, would be beyond all numbers.
    @Test(arguments: [
        (#"segmentDuration\":6"#, "9223372036854775807"), (#"interval\":60"#, "0"), (#"reconnectWindow\":60"#, "-1"),
    ])
    func `a stage with other times of recording than the API takes is none`(time: String, other: String) throws {
        let (record, name) = (Record.stage(Self.recordedStage), time.prefix { $0 != ":" })
        let key = schema.record(record.id)
        let text = codec.encode(record, key: key)
        #expect(text.contains(time))
        #expect(throws: RecordError.malformed) { try codec.decode(text.replacing(time, with: "\(name):\(other)"), key: key) }
    }

    @Test(arguments: records)
    func `no prefix of a record is one`(record: Record) throws {
        let key = schema.record(record.id)
        let text = codec.encode(record, key: key)
        for length in stride(from: 0, to: text.count, by: 7) {
            #expect(throws: RecordError.self) { try codec.decode(String(text.prefix(length)), key: key) }
        }
    }

    @Test
    func `a stage, its placements, revocations and replications share a slot; other records have their own`() {
        let tags = Self.records.map { schema.tag(schema.record($0.id)) }
        #expect(tags == ["one", "c", "k", "one", "one", "settings", "s", "two", "one"])
    }

    @Test
    func `a record that lists name leads back to its list`() {
        for record in Self.records {
            #expect(schema.listing(ofKey: schema.record(record.id)) == schema.listing(record.id))
        }
        #expect(schema.listing(ofKey: "other:{one}:stage") == nil)
        #expect(schema.listing(ofKey: "sd:{one}:session:st-1") == nil)
    }

    @Test
    func `a secret opens only where it was put, and only with the platform's key`() throws {
        let key = schema.record(Self.records[1].id)
        let text = codec.encode(Self.records[1], key: key)
        #expect(!text.contains("s3cret") && !text.contains("second"))
        #expect(throws: RecordError.undecipherable) { try codec.decode(text, key: schema.ingest("other")) }
        let other = try #require(PlatformKey(Secret([UInt8](repeating: 8, count: 32))))
        #expect(throws: RecordError.undecipherable) {
            try RecordCodec(cipher: RecordCipher(other)).decode(text, key: key)
        }
    }
}
