import Admission

/// Changes of what is announced, on their way to the router: one of each participant at a time, so that none overtakes another.
///
/// What changes meanwhile waits, and the newest counts. A change that gets no answer is told again at once, a few times, then
/// behind each lease that the router renews.
struct AnnouncedChanges: Sendable {
    /// As it is told once.
    struct Change: Sendable {
        let announcement: Announcement
        /// How often it was told before.
        let repetitions: Int
        /// Tells its answer from that to one that is forgotten.
        fileprivate let number: Int
    }

    private struct Pending: Sendable {
        let number: Int
        /// What has changed meanwhile.
        var next: Announcement?
    }

    /// A router that is dead is found by its health.
    private let maximumRepetitions: Int
    private var pending: [ParticipantKey: Pending] = [:]
    private var count = 0
    private var untoldChanges: [ParticipantKey: Announcement] = [:]

    init(maximumRepetitions: Int) { self.maximumRepetitions = maximumRepetitions }

    /// Those that no repetition brought to the router.
    var untold: [Announcement] { Array(untoldChanges.values) }

    /// - Returns: false when none of the participant's is on its way: this one need not wait.
    mutating func postpone(_ announcement: Announcement) -> Bool {
        guard pending[announcement.participant] != nil else { return false }
        pending[announcement.participant]?.next = announcement
        return true
    }

    /// The participant has a change on its way from now on.
    mutating func begin(_ announcement: Announcement, repetitions: Int) -> Change {
        count += 1
        pending[announcement.participant] = Pending(number: count)
        untoldChanges[announcement.participant] = nil
        return Change(announcement: announcement, repetitions: repetitions, number: count)
    }

    /// The router has answered, or has not in time.
    /// - Returns: what is to be told now, and how often it was told before.
    mutating func answered(_ change: Change, isInTime: Bool) -> (announcement: Announcement, repetitions: Int)? {
        let participant = change.announcement.participant
        guard pending[participant]?.number == change.number else { return nil }
        if let next = pending.removeValue(forKey: participant)?.next { return (next, 0) }
        if isInTime { return nil }
        if change.repetitions < maximumRepetitions { return (change.announcement, change.repetitions + 1) }
        untoldChanges[participant] = change.announcement
        return nil
    }

    /// The announce has ended, or another one replaces it: answers that are still to come say nothing.
    mutating func forget(_ participant: ParticipantKey) {
        pending[participant] = nil
        untoldChanges[participant] = nil
    }
}
