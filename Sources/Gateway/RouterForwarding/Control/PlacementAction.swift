/// One publication at one of its stage's routers.
struct PlacementSlot: Sendable, Hashable {
    var id: ForwardingID
    var replica: Int
}

/// What a `PlacementMachine` wants done. `RouterControl` does so in this order.
enum PlacementAction: Sendable, Equatable {
    // The store of placements; answered by `looked` and `moved`
    case look(PlacementQuestion, PlacementKey)
    /// Writes `to` if the record still is `from`.
    case move(PlacementQuestion, PlacementKey, from: PlacementRecord?, to: PlacementRecord)

    // Routers
    /// Answered by `answered`, exactly once.
    case announce(PlacementAnnounce)
    case update(Announcement, at: String)
    case withdraw(Announcement, at: String, reason: String)
    /// Answered by `checked`, exactly once.
    case checkHealth(router: String)
    /// Answered by `lost`, if anything was.
    case renewLease(router: String, [Announcement])

    // The publication's worker
    case open(PlacementSlot, LegPlan)
    case close(PlacementSlot)

    case tell(RouterControl.Story)
    case availabilityChanged(Bool)
}

/// A question to the store of placements.
struct PlacementQuestion: Sendable, Hashable {
    var slot: PlacementSlot
    var number: Int
}

/// One announce of a publication to a router, for as long as it has no answer.
struct PlacementAnnounce: Sendable, Equatable {
    var slot: PlacementSlot
    var router: String
    var announcement: Announcement

    struct ID: Sendable, Hashable {
        var slot: PlacementSlot
        var generation: UInt64
    }

    var id: ID { ID(slot: slot, generation: announcement.generation) }
}

extension RouterControl {
    /// What happened, for log, events and metrics.
    public enum Story: Sendable, Equatable {
        case announced(participantID: String, router: String, generation: UInt64)
        case announceFailed(participantID: String, router: String, AnnounceFailure)
        case died(router: String)
        case returned(router: String)
        /// No router can take the stage now; it is tried again every second.
        case noRouter(stageID: String)
        case lost(participantID: String, router: String)
    }

    /// A router as operators see it.
    public struct Status: Sendable {
        public var name: String
        public var isDead: Bool
        public var isEligible: Bool
        /// Announced and answered there.
        public var participantCount: Int
    }
}
