import Admission

/// Announces without an answer that nobody waits for any more: their publications have ended or left the router.
///
/// What one leaves at its router is known once that answers. It is the participant's present publication's to end, if that is
/// there too, or is ended with that router's last answer.
struct AbandonedAnnounces: Sendable {
    struct Entry: Sendable {
        let id: PlacementAnnounce.ID
        let router: String
        /// Why what it leaves is ended.
        let reason: WithdrawalReason
        /// The router holds another announce, whatever the answer is.
        fileprivate(set) var standsAnyway: Bool
        /// The highest that the router may hold.
        fileprivate(set) var generation: UInt64
    }

    /// Each participant's, first to last.
    private var entries: [ParticipantKey: [Entry]] = [:]

    var isEmpty: Bool { entries.isEmpty }

    /// Adds the announce of a participant's slot, if its answer is still to come.
    mutating func add(
        _ slot: PlacementSlot, of participant: ForwardedParticipant, _ reason: WithdrawalReason, standsAnyway: Bool = false
    ) {
        let replica = participant.replicas[slot.replica]
        guard replica.state == .announcing, let router = replica.router else { return }
        let entry = Entry(
            id: PlacementAnnounce.ID(slot: slot, generation: replica.generation), router: router, reason: reason,
            standsAnyway: standsAnyway, generation: replica.generation)
        entries[slot.id.participant, default: []].append(entry)
    }

    /// The next publication's generations rise above what is in flight of its participant, and what stands is its to end.
    mutating func bequeath(to participant: inout ForwardedParticipant) {
        guard var inherited = entries[participant.id.participant] else { return }
        for (index, entry) in inherited.enumerated() {
            participant.generation = max(participant.generation, entry.generation)
            guard entry.standsAnyway, participant.inherit(entry.router, entry.id.slot.replica) else { continue }
            inherited[index].standsAnyway = false
        }
        entries[participant.id.participant] = inherited
    }

    /// The router has answered.
    /// - Returns: nil for an announce that somebody waits for.
    mutating func remove(_ id: PlacementAnnounce.ID) -> Entry? {
        let participant = id.slot.id.participant
        guard var remaining = entries[participant], let index = remaining.firstIndex(where: { $0.id == id }) else { return nil }
        let entry = remaining.remove(at: index)
        entries[participant] = remaining.isEmpty ? nil : remaining
        return entry
    }

    /// Leaves what stands to a later answer of the same router.
    /// - Returns: false after the last one: it is to be ended now.
    mutating func passOn(_ entry: Entry) -> Bool {
        let participant = entry.id.slot.id.participant
        guard var remaining = entries[participant], let heir = remaining.firstIndex(where: { $0.router == entry.router }) else {
            return false
        }
        remaining[heir].standsAnyway = true
        remaining[heir].generation = max(entry.generation, remaining[heir].generation)
        entries[participant] = remaining
        return true
    }
}
