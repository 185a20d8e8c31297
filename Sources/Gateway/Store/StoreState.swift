public import Admission
public import Wire

/// Everything the media side asks about, in memory: one immutable value per commit, read without waiting for any disk.
public struct StoreState: Sendable {
    /// Where a stream key leads.
    struct StreamKeyOwner: Sendable {
        var configurationARN: String
        var participantID: String
    }

    public private(set) var stages: RecordMap<String, Stage> = [:]
    /// The ARNs of `stages` by their ids.
    private var stageARNs: RecordMap<String, String> = [:]
    public private(set) var publicKeys: RecordMap<String, PublicKey> = [:]
    public private(set) var ingestConfigurations: RecordMap<String, IngestConfiguration> = [:]
    public private(set) var storageConfigurations: RecordMap<String, StorageConfiguration> = [:]
    public private(set) var placements: RecordMap<Placement.Key, Placement> = [:]
    public private(set) var replications: RecordMap<Replication.Key, Replication> = [:]
    private var revocations: RecordMap<StageParticipant, Revocation> = [:]
    private var settings: [String: Secret] = [:]
    /// By SHA-256 of the stream key, so that looking one up takes the same time however much of it is right.
    private var streamKeys: RecordMap<CredentialHash, StreamKeyOwner> = [:]

    public init() {}

    /// The configuration and participant of a stream key.
    public func ingestConfiguration(
        withStreamKey key: CredentialHash
    ) -> (configuration: IngestConfiguration, participantID: String)? {
        guard let owner = streamKeys[key], let configuration = ingestConfigurations[owner.configurationARN] else { return nil }
        return (configuration, owner.participantID)
    }

    /// Whether tokens of this participant are refused; entries past their time count as gone.
    public func isRevoked(participantID: String, stageARN: String, at now: WallTime) -> Bool {
        guard let entry = revocations[StageParticipant(participantID, of: stageARN)] else { return false }
        return now < entry.expiresAt
    }

    /// By the text after `stage/` in its ARN.
    public func stage(ofID id: String) -> Stage? { stageARNs[id].flatMap { stages[$0] } }

    /// The ARN of a stage by its id: it says the region and account that the gateway had when the stage was made.
    /// - Parameter names: the gateway's own, for a stage that is not there any more.
    public func stageARN(ofID id: String, names: ResourceName) -> String { stageARNs[id] ?? names.arn(.stage, id) }

    public func setting(_ name: String) -> Secret? { settings[name] }

    public func expiredRevocations(at now: WallTime) -> [Revocation] { revocations.values.filter { $0.expiresAt <= now } }
}

// MARK: - Changing: only by StateTransaction, on loading, and by what other gateways did

extension StoreState {
    package mutating func apply(_ change: Change) {
        switch change {
        case .put(let record): put(record)
        case .delete(let id): remove(id)
        }
    }

    package mutating func put(_ record: Record) {
        switch record {
        case .stage(let stage): (stages[stage.arn], stageARNs[stage.id]) = (stage, stage.arn)
        case .publicKey(let key): publicKeys[key.arn] = key
        case .ingestConfiguration(let configuration): put(configuration)
        case .storageConfiguration(let configuration): storageConfigurations[configuration.arn] = configuration
        case .revocation(let entry): revocations[StageParticipant(entry.participantID, of: entry.stageARN)] = entry
        case .placement(let placement): placements[placement.key] = placement
        case .replication(let replication): replications[replication.key] = replication
        case .setting(let setting): settings[setting.name] = setting.value
        }
    }

    package mutating func remove(_ id: Record.ID) {
        switch id {
        case .stage(let arn): (stages[arn], stageARNs[ResourceName.identifier(inARN: arn)]) = (nil, nil)
        case .publicKey(let arn): publicKeys[arn] = nil
        case .ingestConfiguration(let arn): removeIngestConfiguration(arn)
        case .storageConfiguration(let arn): storageConfigurations[arn] = nil
        case .revocation(let arn, let participantID): revocations[StageParticipant(participantID, of: arn)] = nil
        case .placement(let key): placements[key] = nil
        case .replication(let key): replications[key] = nil
        case .setting(let name): settings[name] = nil
        }
    }

    package func record(_ id: Record.ID) -> Record? {
        switch id {
        case .stage(let arn): stages[arn].map(Record.stage)
        case .publicKey(let arn): publicKeys[arn].map(Record.publicKey)
        case .ingestConfiguration(let arn): ingestConfigurations[arn].map(Record.ingestConfiguration)
        case .storageConfiguration(let arn): storageConfigurations[arn].map(Record.storageConfiguration)
        case .revocation(let arn, let participantID):
            revocations[StageParticipant(participantID, of: arn)].map(Record.revocation)
        case .placement(let key): placements[key].map(Record.placement)
        case .replication(let key): replications[key].map(Record.replication)
        case .setting(let name): settings[name].map { .setting(Setting(name: name, value: $0)) }
        }
    }

    /// Every record, in no order.
    package var records: [Record] {
        let settings = settings.map { Record.setting(Setting(name: $0.key, value: $0.value)) }
        let ofStages = stages.values.map(Record.stage) + placements.values.map(Record.placement)
        return settings + ofStages + revocations.values.map(Record.revocation) + publicKeys.values.map(Record.publicKey)
            + ingestConfigurations.values.map(Record.ingestConfiguration)
            + storageConfigurations.values.map(Record.storageConfiguration) + replications.values.map(Record.replication)
    }

    private mutating func put(_ configuration: IngestConfiguration) {
        removeIngestConfiguration(configuration.arn)
        ingestConfigurations[configuration.arn] = configuration
        for credential in configuration.credentials {
            streamKeys[CredentialHash(of: credential.streamKey)] = StreamKeyOwner(
                configurationARN: configuration.arn, participantID: credential.participantID)
        }
    }

    private mutating func removeIngestConfiguration(_ arn: String) {
        guard let old = ingestConfigurations.removeValue(forKey: arn) else { return }
        for credential in old.credentials { streamKeys[CredentialHash(of: credential.streamKey)] = nil }
    }
}
