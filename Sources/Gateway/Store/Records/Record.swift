public import Wire

/// One thing that is stored and changed whole.
package enum Record: Equatable, Sendable {
    case stage(Stage)
    case publicKey(PublicKey)
    case ingestConfiguration(IngestConfiguration)
    case storageConfiguration(StorageConfiguration)
    case revocation(Revocation)
    case placement(Placement)
    case replication(Replication)
    case setting(Setting)

    /// What names a record among all.
    package enum ID: Hashable, Sendable {
        case stage(arn: String)
        case publicKey(arn: String)
        case ingestConfiguration(arn: String)
        case storageConfiguration(arn: String)
        case revocation(stageARN: String, participantID: String)
        case placement(Placement.Key)
        case replication(Replication.Key)
        case setting(name: String)
    }

    package var id: ID {
        switch self {
        case .stage(let stage): .stage(arn: stage.arn)
        case .publicKey(let key): .publicKey(arn: key.arn)
        case .ingestConfiguration(let configuration): .ingestConfiguration(arn: configuration.arn)
        case .storageConfiguration(let configuration): .storageConfiguration(arn: configuration.arn)
        case .revocation(let entry): .revocation(stageARN: entry.stageARN, participantID: entry.participantID)
        case .placement(let placement): .placement(placement.key)
        case .replication(let replication): .replication(replication.key)
        case .setting(let setting): .setting(name: setting.name)
        }
    }
}

/// A virtual space where participants exchange audio and video (`Stage` of the API model).
public struct Stage: Equatable, Sendable {
    public var arn: String
    /// 0 to 128 characters; empty when none was given.
    public var name: String
    /// At most 50.
    public var tags: [String: String]
    /// What of its participants is recorded; off unless somebody said otherwise.
    public var recording = RecordingConfiguration()
    public var createdAt: WallTime

    /// The text after `stage/` in the ARN: the token's `topic` and the metrics' dimension.
    public var id: String { ResourceName.identifier(inARN: arn) }

    public init(arn: String, name: String = "", tags: [String: String] = [:], createdAt: WallTime) {
        (self.arn, self.name, self.tags, self.createdAt) = (arn, name, tags, createdAt)
    }
}

/// A customer's key for participant tokens: EC P-384, SubjectPublicKeyInfo as PEM (`PublicKey` of the API model).
public struct PublicKey: Equatable, Sendable {
    public var arn: String
    public var name: String
    /// The PEM with a trailing newline, as GetPublicKey returns it.
    public var material: String
    /// MD5 of the SPKI DER as 16 hexadecimal pairs joined by colons.
    public var fingerprint: String
    public var tags: [String: String]
    public var createdAt: WallTime

    public init(
        arn: String, name: String = "", material: String, fingerprint: String, tags: [String: String] = [:],
        createdAt: WallTime
    ) {
        (self.arn, self.name, self.material, self.fingerprint) = (arn, name, material, fingerprint)
        (self.tags, self.createdAt) = (tags, createdAt)
    }
}

/// Which router carries a stage, by compare-and-swap (docs/design.md 6.4): one record for each stage and replica.
public struct Placement: Hashable, Sendable {
    public struct Key: Hashable, Sendable {
        public var stageID: String
        /// 0 for the first router, up to `replicas` − 1.
        public var replica: Int

        public init(stageID: String, replica: Int) { (self.stageID, self.replica) = (stageID, replica) }
    }

    public var key: Key
    public var router: String
    /// Rises with every move: max(last + 1, wall clock ms), below 2^53.
    public var generation: UInt64

    public init(key: Key, router: String, generation: UInt64) {
        (self.key, self.router, self.generation) = (key, router, generation)
    }
}

/// A participant whose tokens are refused until the last of them has expired.
public struct Revocation: Equatable, Sendable {
    public var stageARN: String
    public var participantID: String
    /// `exp` and leeway of the longest-lived token that can exist for it.
    public var expiresAt: WallTime

    public init(stageARN: String, participantID: String, expiresAt: WallTime) {
        (self.stageARN, self.participantID, self.expiresAt) = (stageARN, participantID, expiresAt)
    }
}

/// A value that the server made for itself and keeps: keys, credentials of the quickstart.
package struct Setting: Equatable, Sendable {
    package var name: String
    package var value: Secret

    package init(name: String, value: Secret) { (self.name, self.value) = (name, value) }
}
