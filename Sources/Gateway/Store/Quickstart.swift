public import Wire

/// What a newcomer needs, made once for a data directory: a stage, an ingest configuration, an access key.
public struct Quickstart: Sendable {
    public var stage: Stage
    public var ingestConfiguration: IngestConfiguration
    public var accessKeyID: String
    public var secretAccessKey: Secret
    /// The participant (`jti`) of the publish token, which is minted anew at every start.
    public var tokenParticipantID: String

    private enum Name {
        static let stage = "quickstart.stage"
        static let ingestConfiguration = "quickstart.ingestConfiguration"
        static let accessKeyID = "quickstart.accessKeyID"
        static let secretAccessKey = "quickstart.secretAccessKey"
        static let tokenParticipantID = "quickstart.tokenParticipantID"
    }

    /// Keeps what an earlier start made and is still there; makes what is missing, for use in a store's transaction.
    public init(in transaction: inout StateTransaction, names: ResourceName, now: WallTime) {
        accessKeyID = Self.kept(Name.accessKeyID, in: &transaction) { "AKIA" + Identifier.random(16).uppercased() }
        secretAccessKey = Secret(Self.kept(Name.secretAccessKey, in: &transaction) { Identifier.random(40) })
        tokenParticipantID = Self.kept(Name.tokenParticipantID, in: &transaction) { Identifier.resource() }
        let stageARN = Self.kept(Name.stage, in: &transaction) { names.arn(.stage, Identifier.resource()) }
        stage = transaction.state.stages[stageARN] ?? Stage(arn: stageARN, name: "demo", createdAt: now)
        transaction.put(stage)
        let arn = Self.kept(Name.ingestConfiguration, in: &transaction) {
            names.arn(.ingestConfiguration, Identifier.resource())
        }
        ingestConfiguration =
            transaction.state.ingestConfigurations[arn] ?? Self.ingestConfiguration(arn, of: stage, names: names, now: now)
        ingestConfiguration.stageARN = stageARN
        transaction.put(ingestConfiguration)
        // A disconnected demo participant would otherwise stay locked out of the demo stage for ever.
        transaction.removeRevocation(participantID: tokenParticipantID, stageARN: stageARN)
    }

    private static func ingestConfiguration(
        _ arn: String, of stage: Stage, names: ResourceName, now: WallTime
    ) -> IngestConfiguration {
        let identifier = ResourceName.identifier(inARN: arn)
        return IngestConfiguration(
            arn: arn, name: "demo", stageARN: stage.arn, participantID: Identifier.resource(),
            streamKey: Secret(names.streamKey(identifier: identifier, secret: Identifier.random(32))), transport: .rtmp,
            insecureIngest: true, createdAt: now)
    }

    private static func kept(_ name: String, in transaction: inout StateTransaction, make: () -> String) -> String {
        if let value = transaction.state.setting(name) { return value.revealText() }
        let value = make()
        transaction.setSetting(name, to: Secret(value))
        return value
    }
}
