/// One thing that is stored and changed whole.
package enum Record: Equatable, Sendable {
    case stage(Stage)
    case publicKey(PublicKey)
    case ingestConfiguration(IngestConfiguration)
    case revocation(Revocation)
    case placement(Placement)
    case setting(Setting)

    /// What names a record among all.
    package enum ID: Hashable, Sendable {
        case stage(arn: String)
        case publicKey(arn: String)
        case ingestConfiguration(arn: String)
        case revocation(stageARN: String, participantID: String)
        case placement(Placement.Key)
        case setting(name: String)
    }

    package var id: ID {
        switch self {
        case .stage(let stage): .stage(arn: stage.arn)
        case .publicKey(let key): .publicKey(arn: key.arn)
        case .ingestConfiguration(let configuration): .ingestConfiguration(arn: configuration.arn)
        case .revocation(let entry): .revocation(stageARN: entry.stageARN, participantID: entry.participantID)
        case .placement(let placement): .placement(placement.key)
        case .setting(let setting): .setting(name: setting.name)
        }
    }
}
