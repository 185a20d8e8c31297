import Recording
import Store

/// How a recording stands, and what is told of it. A value: what the recorder says goes in, what others learn comes out.
///
///     starting ─► active ◄─► stopping ─► stopped          Recording Start … Recording End
///         │         │            │
///         ▼         ▼            ▼
///       failed    failed       failed                      Recording Start Failure, or Recording End Failure
struct RecordingStates: Sendable {
    /// What others learn.
    struct News: Equatable {
        var state: ParticipantRecording.State
        /// The event, if this is worth one.
        var event: ParticipantEvent.Name?
    }

    private var state: ParticipantRecording.State?
    private var wasActive: Bool

    /// - Parameter wasActive: whether a former process told that it began.
    init(wasActive: Bool = false) { self.wasActive = wasActive }

    var isOver: Bool { state == .stopped || state == .failed }

    /// - Returns: nil for what is known already, and for what comes after the end.
    mutating func told(_ new: RecordingSummary.State) -> News? {
        guard let next = ParticipantRecording.State(new), !isOver, next != state else { return nil }
        state = next
        switch next {
        case .starting, .stopping: return News(state: next)
        case .active:
            // Whoever comes back within the window goes on in what began before.
            defer { wasActive = true }
            return News(state: next, event: wasActive ? nil : .recordingStarted)
        // Without a beginning there is no end: nothing came that could be recorded.
        case .stopped: return News(state: next, event: wasActive ? .recordingEnded : nil)
        case .failed: return News(state: next, event: wasActive ? .recordingEndFailed : .recordingStartFailed)
        }
    }
}

extension ParticipantRecording.State {
    fileprivate init?(_ state: RecordingSummary.State) {
        switch state {
        case .starting: self = .starting
        case .active: self = .active
        case .stopping: self = .stopping
        case .stopped: self = .stopped
        case .failed: self = .failed
        case .elsewhere, .inNextSession: return nil
        }
    }
}
