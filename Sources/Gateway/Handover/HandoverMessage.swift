public import Admission
public import HandoverCodec
public import MediaContract
public import Store

/// What the two processes of a handover tell each other (docs/design.md 4.6), encoded by `MessageCodec`.
///
/// ```
/// successor                      predecessor
/// hello                       →
///                             ←  offer, sockets… (with their descriptors)   or refused
/// prepare                     →                                             lets go of the store
///                             ←  living…, reservation…, prepared
/// ready                       →                                             accepts no more
///                             ←  lease…, history…, reservation…, placements…   reads no more
///                             ←  yours
/// end, request, terminate     →
///                             ←  lease, released, history, progress, response, left
/// ```
/// A connection that closes before `left` gives everything back to the predecessor once the successor is gone, if it still lives
/// itself. Leases go on in the successor once the predecessor is gone. Neither goes by the connection's end alone.
///
/// A successor may itself be succeeded while it has a predecessor: what is told travels along the chain, link by link.
public enum HandoverMessage: Codable, Equatable, Sendable {
    /// Rises when a message changes its meaning, or may hold what it could not before: processes that differ here drain in place
    /// of a handover.
    public static let version = 5

    /// Who is too old to know of `placements`, and would close at one, says nothing of them: nil.
    case hello(version: Int, process: Int32, takesPlacements: Bool?)
    case refused(String)
    case offer(HandoverOffer)
    /// What the descriptors that travel with it are, in their order.
    case sockets([SocketRole])
    case prepare
    case living([LivingParticipant])
    case reservation(PortReservation)
    /// Where the sender's live stages are, and those of the processes before it. For successors that have said so.
    case placements([HandedPlacement])
    case prepared
    case ready
    case yours
    /// A lease of the sender's, or what has changed about it.
    case lease(HandedLease)
    case released(PublishLease)
    case history([HistoryWrite])
    /// What an encoder has still to be told by whoever admits it.
    case refusal(HandedRefusal)
    /// Live sessions of the sender and of those before it, as `/v1/sessions` tells them; the list ends with the last part.
    case sessions([PeerBytes], isLast: Bool)
    case progress([HolderProgress])
    /// The publish of this lease has to end.
    case end(PublishLease, LeaseEnd)
    case request(number: Int, HandedRequest)
    case response(number: Int, HandedResponse)
    /// The node is to go away: the predecessor drains too.
    case terminate
    /// Whether a third process has the successor's place: then the predecessor cannot serve again when the successor ends.
    case succeeded(Bool)
    /// So many processes before the sender still have sessions.
    case predecessors(Int)
    /// The sender's sessions are over and it ends.
    case left
}

public struct HandoverOffer: Codable, Sendable, Equatable {
    /// The process generation of the sender's sessions, below 64.
    public var generation: UInt8
    /// The successor has as many, because the sockets of a group are one for each.
    public var workers: Int
    /// How many descriptors follow.
    public var descriptors: Int
    /// By which the sender's session ids are bound to their tokens: the successor asks it before it passes a request on.
    public var sessionKey: [UInt8]
    /// Listeners whose address counts, whatever the successor's configuration says: systemd's units decided it. Nil from a
    /// process that is too old to tell, and to listen again where its successor had connections refused.
    public var activated: Set<SocketRole.Kind>?

    public init(
        generation: UInt8, workers: Int, descriptors: Int, sessionKey: [UInt8], activated: Set<SocketRole.Kind> = []
    ) {
        (self.generation, self.workers, self.descriptors) = (generation, workers, descriptors)
        (self.sessionKey, self.activated) = (sessionKey, activated)
    }
}

/// What a descriptor is for.
public struct SocketRole: Codable, Sendable, Hashable {
    public enum Kind: String, Codable, Sendable, CaseIterable {
        case http, https, rtmp, shared, media, mediaTCP, admin
        /// The data directory's lock.
        case lock
        /// The successor's end of the pair for datagrams of a worker's sessions.
        case datagrams
        /// At its end when a process is gone: 0 is the sender's, which has the other end; further ones are of those before it.
        case life

        /// Whether clients come in there.
        public var isListener: Bool {
            switch self {
            case .http, .https, .rtmp, .shared, .media, .mediaTCP, .admin: true
            case .lock, .datagrams, .life: false
            }
        }
    }

    public var kind: Kind
    public var worker: Int

    public init(_ kind: Kind, worker: Int = 0) { (self.kind, self.worker) = (kind, worker) }
}

/// Ports of a `static` router that somebody's media goes to.
public struct PortReservation: Codable, Sendable, Equatable {
    public var router: String
    public var owner: String
    public var port: UInt16

    public init(router: String, owner: String, port: UInt16) { (self.router, self.owner, self.port) = (router, owner, port) }
}

/// Which stage router has a stage, as the replica of that number.
public struct HandedPlacement: Codable, Sendable, Equatable {
    public var stageID: String
    public var replica: Int
    public var router: String
    public var generation: UInt64

    public init(stageID: String, replica: Int, router: String, generation: UInt64) {
        (self.stageID, self.replica, self.router, self.generation) = (stageID, replica, router, generation)
    }
}

/// When the holder of a lease last made progress, on the machine's monotonic clock, which both processes read.
public struct HolderProgress: Codable, Sendable, Equatable {
    public var lease: PublishLease
    public var nanoseconds: Int64

    public init(lease: PublishLease, nanoseconds: Int64) { (self.lease, self.nanoseconds) = (lease, nanoseconds) }
}
