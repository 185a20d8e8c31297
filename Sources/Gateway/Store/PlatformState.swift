public import Wire

/// Everything the media side asks about, in memory: one immutable value per commit, read without waiting for any disk.
public struct PlatformState: Sendable {
    /// Where a stream key leads.
    struct StreamKeyOwner: Sendable {
        var configurationARN: String
        var participantID: String
    }

    private struct ParticipantKey: Hashable, Sendable {
        var stageARN: String
        var participantID: String
    }

    public private(set) var stages: [String: Stage] = [:]
    public private(set) var publicKeys: [String: PublicKey] = [:]
    public private(set) var ingestConfigurations: [String: IngestConfiguration] = [:]
    public private(set) var placements: [Placement.Key: Placement] = [:]
    private var revocations: [ParticipantKey: Revocation] = [:]
    private var settings: [String: Secret] = [:]
    /// By SHA-256 of the stream key, so that looking one up takes the same time however much of it is right.
    private var streamKeys: [CredentialHash: StreamKeyOwner] = [:]

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
        guard let entry = revocations[ParticipantKey(stageARN: stageARN, participantID: participantID)] else { return false }
        return now < entry.expiresAt
    }

    public func setting(_ name: String) -> Secret? { settings[name] }

    public func expiredRevocations(at now: WallTime) -> [Revocation] { revocations.values.filter { $0.expiresAt <= now } }
}

// MARK: - Changing: only by StateTransaction and on loading

extension PlatformState {
    mutating func put(_ stage: Stage) { stages[stage.arn] = stage }
    mutating func removeStage(_ arn: String) { stages[arn] = nil }
    mutating func put(_ key: PublicKey) { publicKeys[key.arn] = key }
    mutating func removePublicKey(_ arn: String) { publicKeys[arn] = nil }

    mutating func put(_ configuration: IngestConfiguration) {
        removeIngestConfiguration(configuration.arn)
        ingestConfigurations[configuration.arn] = configuration
        for credential in configuration.credentials {
            streamKeys[CredentialHash(of: credential.streamKey)] = StreamKeyOwner(
                configurationARN: configuration.arn, participantID: credential.participantID)
        }
    }

    mutating func removeIngestConfiguration(_ arn: String) {
        guard let old = ingestConfigurations.removeValue(forKey: arn) else { return }
        for credential in old.credentials { streamKeys[CredentialHash(of: credential.streamKey)] = nil }
    }

    mutating func put(_ revocation: Revocation) {
        revocations[ParticipantKey(stageARN: revocation.stageARN, participantID: revocation.participantID)] = revocation
    }

    mutating func remove(_ revocation: Revocation) {
        revocations[ParticipantKey(stageARN: revocation.stageARN, participantID: revocation.participantID)] = nil
    }

    mutating func put(_ placement: Placement) { placements[placement.key] = placement }
    mutating func removePlacement(_ key: Placement.Key) { placements[key] = nil }
    mutating func put(_ setting: Setting) { settings[setting.name] = setting.value }
}
