import Admission
import Wire

/// The routers of the configuration, by name: who lives, who can take new stages, and what each may hold still.
struct PlacementRouters: Sendable {
    private struct Router: Sendable {
        let hasHealth: Bool
        var health = RouterHealth()
        var isChecking = false
        /// What it had answered when it was found dead. One that was only out of reach holds it still, and shows its viewers a
        /// picture that stands: once it is back it is told the end, or another announce.
        var left: [ParticipantKey: Announcement] = [:]
    }

    /// What a sign of a router's health has changed.
    struct Change: Sendable, Equatable {
        var hasReturned = false
        var hasDied = false
        /// Whether new publishes may hope for any router; nil as long as that is as it was.
        var isAvailable: Bool?
    }

    private var routers: [String: Router]
    private var isAvailable = true

    /// - Parameter hasHealth: by name, whether the router can be asked for its health.
    init(hasHealth: [String: Bool]) { routers = hasHealth.mapValues { Router(hasHealth: $0) } }

    /// In order, as are all its parts.
    var names: [String] { routers.keys.sorted() }
    var alive: [String] { names.filter { isAlive($0) } }
    /// Those that take new stages now.
    var eligible: [String] { names.filter { isEligible($0) } }

    /// A record may name one that other gateways' configurations have.
    func contains(_ name: String) -> Bool { routers[name] != nil }
    func isAlive(_ name: String) -> Bool { routers[name]?.health.isDead == false }
    func isEligible(_ name: String) -> Bool { routers[name]?.health.isEligible == true }
}

// MARK: - Health

extension PlacementRouters {
    /// RTCP came from it.
    mutating func feedbackCame(from name: String, at moment: MonotonicTime) {
        routers[name]?.health.feedbackCame(at: moment)
    }

    /// - Returns: who is to be asked now: all that can be, and have no question open.
    mutating func beginChecks() -> [String] {
        let asked = names.filter { routers[$0]?.hasHealth == true && routers[$0]?.isChecking == false }
        for name in asked { routers[name]?.isChecking = true }
        return asked
    }

    mutating func take(_ sign: RouterSign, of name: String, at now: MonotonicTime) -> Change {
        guard var router = routers[name], router.hasHealth else { return Change() }
        if case .check = sign { router.isChecking = false }
        let wasDead = router.health.isDead
        var change = Change()
        change.hasDied = router.health.checked(isGood: sign.isGood, at: now)
        change.hasReturned = wasDead && !router.health.isDead
        routers[name] = router
        change.isAvailable = availabilityChange()
        return change
    }

    private mutating func availabilityChange() -> Bool? {
        let isAvailableNow = routers.values.contains { $0.health.isPromising }
        guard isAvailableNow != isAvailable else { return nil }
        isAvailable = isAvailableNow
        return isAvailable
    }
}

// MARK: - What dead ones hold

extension PlacementRouters {
    /// - Parameter withdrawal: what ends it, if the router comes back.
    mutating func leave(_ withdrawal: Announcement, at name: String) {
        routers[name]?.left[withdrawal.participant] = withdrawal
    }

    /// Takes what was left there of one participant: it is replaced or ended.
    @discardableResult
    mutating func takeLeft(of participant: ParticipantKey, at name: String) -> Announcement? {
        routers[name]?.left.removeValue(forKey: participant)
    }

    /// Takes all that was left there, in the order of the participants.
    mutating func takeLeft(at name: String) -> [Announcement] {
        defer { routers[name]?.left = [:] }
        return routers[name]?.left.values.sorted { $0.participant.name < $1.participant.name } ?? []
    }
}
