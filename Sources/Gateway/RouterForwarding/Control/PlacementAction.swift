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
    case withdraw(Announcement, at: String, reason: WithdrawalReason)
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
