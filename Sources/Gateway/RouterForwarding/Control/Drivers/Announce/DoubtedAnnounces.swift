import Admission

/// Announces that got no answer, or one that does not say where: the router may hold them.
struct DoubtedAnnounces: Sendable {
    /// The last one of each participant.
    private var announcements: [ParticipantKey: Announcement] = [:]

    var all: [Announcement] { Array(announcements.values) }

    mutating func add(_ announcement: Announcement) {
        if announcements.count < Self.maximumCount { announcements[announcement.participant] = announcement }
    }

    /// Takes the participant's: it is announced again.
    mutating func take(_ participant: ParticipantKey) -> Announcement? { announcements.removeValue(forKey: participant) }

    /// A lease was answered, which says of all that were in doubt when it was sent whether the router holds them.
    /// - Parameter surplus: how many more of each id it holds than are live there.
    /// - Returns: those that it may hold, of those that are still in doubt.
    mutating func settle(_ doubted: [Announcement], by surplus: [String: Int]) -> [Announcement] {
        let settled = doubted.filter { announcements[$0.participant] == $0 }
        for announcement in settled { announcements[announcement.participant] = nil }
        return settled.filter { surplus[$0.participantID, default: 0] > 0 }
    }

    /// Beyond it nobody looks for what a lost answer has made.
    static let maximumCount = 1_024
}
