import GatewayLogging
import Wire

/// Says in the log that recordings have gaps: one line a second for all of them, as a disk that is slow has all of them wait.
/// Confined to the writer's thread.
final class GapNotice {
    private var lines = Allowance(1, then: .seconds(1))
    /// Gaps since the last line.
    private var untoldCount = 0

    func tell(of participant: RecordedParticipant, at now: MonotonicTime) {
        guard lines.take(at: now) else { return untoldCount += 1 }
        Log.event(
            .warning, "recording_gap",
            ["participant": .string(participant.participantID), "untold": .integer(untoldCount)])
        untoldCount = 0
    }
}
