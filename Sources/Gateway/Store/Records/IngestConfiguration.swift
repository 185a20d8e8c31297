public import Admission
public import Wire

/// The right to publish by RTMP: a stream key bound to a participant, and through `stageARN` to a stage.
public struct IngestConfiguration: Equatable, Sendable {
    public enum Transport: String, Sendable {
        case rtmp = "RTMP"
        case rtmps = "RTMPS"
    }

    /// One encoder's own participant and key (`redundantIngestCredentials`).
    public struct Credential: Equatable, Sendable {
        public var participantID: String
        public var streamKey: Secret

        public init(participantID: String, streamKey: Secret) {
            (self.participantID, self.streamKey) = (participantID, streamKey)
        }
    }

    public var arn: String
    public var name: String
    /// Empty while the configuration belongs to no stage: its key is then unusable.
    public var stageARN: String
    public var participantID: String
    public var streamKey: Secret
    public var transport: Transport
    /// Whether plain RTMP is taken beside RTMPS.
    public var insecureIngest: Bool
    /// Whether `redundantIngest` was asked for; the credentials of both encoders are kept while it is.
    public var redundantIngest: Bool
    public var redundantCredentials: [Credential]
    public var userID: String
    /// At most 1 KB in all.
    public var attributes: [String: String]
    public var tags: [String: String]
    public var createdAt: WallTime

    public init(
        arn: String, name: String = "", stageARN: String = "", participantID: String, streamKey: Secret,
        transport: Transport, insecureIngest: Bool, createdAt: WallTime
    ) {
        (self.arn, self.name, self.stageARN, self.participantID) = (arn, name, stageARN, participantID)
        (self.streamKey, self.transport, self.insecureIngest) = (streamKey, transport, insecureIngest)
        (redundantIngest, redundantCredentials) = (false, [])
        (userID, attributes, tags, self.createdAt) = ("", [:], [:], createdAt)
    }

    /// Every participant of this configuration with its key. With redundant ingest the first one is what the stage sees of the
    /// other two, and nobody publishes with its key.
    public var credentials: [Credential] {
        [Credential(participantID: participantID, streamKey: streamKey)] + redundantCredentials
    }

    /// The key to publish with: the configuration's own, or with redundant ingest that of encoder 1 or 2.
    public func streamKey(ofEncoder number: Int) -> Secret {
        guard redundantIngest, redundantCredentials.indices.contains(number - 1) else { return streamKey }
        return redundantCredentials[number - 1].streamKey
    }

    /// The part in redundant ingest of one of its participants; nil without redundant ingest.
    public func redundancy(of participantID: String) -> Redundancy? {
        guard redundantIngest else { return nil }
        if participantID == self.participantID { return .joined }
        let index = redundantCredentials.firstIndex { $0.participantID == participantID }
        return index.map { .encoder(number: $0 + 1, joined: self.participantID) }
    }
}
