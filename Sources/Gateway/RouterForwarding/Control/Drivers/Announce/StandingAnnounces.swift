import Admission

/// What a router holds, by its answers, and which ends it has not heard of.
struct StandingAnnounces: Sendable {
    /// One participant's.
    struct Standing: Sendable {
        /// Where it lives at the router.
        let location: String
        /// What of its offer was taken.
        let offer: LegPlan
        let generation: UInt64
    }

    private var announces: [ParticipantKey: Standing] = [:]
    /// What is to be deleted: while our lease lives, the router would keep the participant for good.
    private var untoldEnds: [ParticipantKey: String] = [:]

    subscript(participant: ParticipantKey) -> Standing? { announces[participant] }

    /// Whether a later announce stands in place of this one.
    func haveReplaced(_ announcement: Announcement) -> Bool {
        announces[announcement.participant].map { $0.generation > announcement.generation } ?? false
    }

    /// It replaces what there was, of which nothing is to be ended any more.
    mutating func add(_ announcement: Announcement, at location: String, _ offer: LegPlan) {
        announces[announcement.participant] = Standing(
            location: location, offer: offer, generation: announcement.generation)
        untoldEnds[announcement.participant] = nil
    }

    /// - Returns: what is to be ended.
    mutating func remove(_ participant: ParticipantKey) -> Standing? { announces.removeValue(forKey: participant) }

    /// The end got no answer: it is told again behind the next lease, unless the participant is back.
    mutating func keepEnd(of participant: ParticipantKey, by url: String) {
        guard announces[participant] == nil, untoldEnds.count < Self.maximumUntoldEnds else { return }
        untoldEnds[participant] = url
    }

    /// Takes what is to be told again.
    mutating func takeUntoldEnds() -> [ParticipantKey: String] {
        defer { untoldEnds = [:] }
        return untoldEnds
    }

    /// Beyond it ends are not told again: they all go out behind one lease, and the next one waits for them.
    static let maximumUntoldEnds = 1_024
}
