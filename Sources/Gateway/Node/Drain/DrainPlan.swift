import Settings
import Synchronization
import Wire

/// How a node goes away without hurting anybody: not ready, then closed to new publishes, then live
/// ones are ended a few at a time.
///
/// Pure: whoever runs it asks at every turn how it goes on, and carries out the answer. With nothing live it is over at once.
struct DrainPlan: Sendable {
    enum Phase: Sendable, Equatable {
        /// Not ready, still taking publishes.
        case grace
        /// New publishes are refused, live ones go on.
        case refusing
        /// Live ones are ended, oldest first.
        case closing
        case finished
    }

    enum Action: Sendable, Equatable {
        /// Refuse new publishes, and ask encoders that understand it to connect elsewhere.
        case refusePublishes
        case close(count: Int)
        case finish
    }

    private(set) var phase = Phase.grace
    private var settings: DrainSettings
    private let startedAt: MonotonicTime
    private var closingSince: MonotonicTime
    private var countAtDeadline = 0
    private var closedCount = 0
    /// When the last stream was told to end.
    private var lastClose: MonotonicTime

    init(_ settings: DrainSettings, at now: MonotonicTime) {
        (self.settings, startedAt, closingSince, lastClose) = (settings, now, now, now)
    }

    /// With more time, streams that were not told to end yet go on.
    mutating func apply(_ settings: DrainSettings) {
        self.settings = settings
        if phase == .closing { (phase, closedCount) = (.refusing, 0) }
    }

    /// What is to be done now, in this order. Ask several times a second.
    mutating func turn(liveCount: Int, at now: MonotonicTime) -> [Action] {
        guard phase != .finished else { return [] }
        var actions: [Action] = []
        if phase == .grace, liveCount == 0 || now - startedAt >= settings.grace {
            phase = .refusing
            actions.append(.refusePublishes)
        }
        if phase == .refusing, now - startedAt >= max(settings.grace, settings.timeout) {
            phase = .closing
            (closingSince, lastClose, countAtDeadline) = (now, now, liveCount)
        }
        if let count = dueCloses(liveCount: liveCount, at: now) { actions.append(.close(count: count)) }
        if liveCount == 0 || phase == .closing && now - lastClose >= Self.maximumLinger {
            phase = .finished
            actions.append(.finish)
        }
        return actions
    }

    /// The first stream ends at once, the others at the configured pace, however unevenly turns come.
    private mutating func dueCloses(liveCount: Int, at now: MonotonicTime) -> Int? {
        guard phase == .closing, liveCount > 0 else { return nil }
        // Everybody has been told: those that are left are told again until they are left behind.
        guard closedCount < countAtDeadline else { return liveCount }
        let due = 1 + Int((now - closingSince).inSeconds * Double(max(1, settings.closesPerSecond)))
        let count = min(due - closedCount, liveCount)
        guard count > 0 else { return nil }
        (closedCount, lastClose) = (closedCount + count, now)
        return count
    }

    /// Streams that were told to end and do not are left behind after so long.
    static let maximumLinger: Duration = .seconds(5)
}

/// How many streams may be ended now, shared by the workers that end them: each takes all, and gives back what it has not used.
final class CloseBudget: Sendable {
    private let count = Atomic<Int>(0)

    /// Allows exactly so many; what nobody took of an earlier turn lapses.
    func allow(_ count: Int) { self.count.store(count, ordering: .relaxed) }

    /// Ends up to as many streams as are allowed.
    /// - Parameter end: gets the greatest number, answers how many it ended.
    func spend(_ end: (Int) -> Int) {
        let allowed = count.exchange(0, ordering: .relaxed)
        guard allowed > 0 else { return }
        count.add(allowed - end(allowed), ordering: .relaxed)
    }
}
