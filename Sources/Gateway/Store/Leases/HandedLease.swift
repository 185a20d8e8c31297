public import Admission
public import Wire

/// A lease as one process of the gateway sends it to the other, which keeps the table from then on.
public struct HandedLease: Codable, Sendable, Equatable {
    public var lease: PublishLease
    public var grant: PublishGrant
    public var ingestProtocol: IngestProtocol
    public var joinedAt: WallTime
    /// Whether JOINED, and PUBLISH_STARTED, have been recorded.
    public var isAnnounced: Bool
    public var isPublishing: Bool
    /// The stage session it belongs to, and whether the history knows it.
    public var session: StageSession
    public var isSessionRecorded: Bool
}

/// What becomes of a lease after it was told.
public enum LeaseChange: Sendable {
    case changed(HandedLease)
    case released(PublishLease)
}
