import CLibevent

/// Lets normal events have their turn: every so many runs a media event queues behind them.
///
/// libevent serves the first priority that has anything to do, and then polls again. A socket that is always readable, or a
/// timer that is always due, would starve requests, mailboxes and signals for good.
struct MediaCourtesy {
    private static let runsBetween = 16
    private var runs = 0

    /// Called inside the event's callback, when it is in no queue.
    mutating func next(for event: OpaquePointer?) {
        runs += 1
        if runs == Self.runsBetween {
            unsafe event_priority_set(event, EventPriority.normal.rawValue)
        } else if runs > Self.runsBetween {
            unsafe event_priority_set(event, EventPriority.media.rawValue)
            runs = 0
        }
    }
}
