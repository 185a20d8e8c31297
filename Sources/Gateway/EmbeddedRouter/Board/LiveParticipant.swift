public import Admission
public import StageHub
public import Wire

/// A participant that is live on this node, as watchers of its stage are told of it.
public struct LiveParticipant: Sendable, Equatable {
    public var stageID: String
    public var participantID: String
    public var userID: String
    public var attributes: [String: String]
    public var ingestProtocol: IngestProtocol
    /// When this publish began.
    public var since: WallTime
    public var muted: Set<TrackID> = []
    /// Tells publishes of one participant apart: rises with every one.
    public var serial: UInt64

    init(_ grant: PublishGrant, protocol ingestProtocol: IngestProtocol, since: WallTime, serial: UInt64) {
        (stageID, participantID, userID, attributes) = (grant.stageID, grant.participantID, grant.userID, grant.attributes)
        (self.ingestProtocol, self.since, self.serial) = (ingestProtocol, since, serial)
    }
}
