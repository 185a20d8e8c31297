import GatewayLogging
import Wire

/// Says in the log that recordings have gaps: one line a second for all of them, as a disk that is slow has all of them wait.
/// Confined to the writer's thread.
final class GapNotice {
    private var toldAt: MonotonicTime?
    /// Gaps since the last line.
    private var untoldCount = 0

    func tell(of participant: RecordedParticipant, at now: MonotonicTime) {
        if let toldAt, now - toldAt < Self.interval {
            untoldCount += 1
            return
        }
        Log.event(
            .warning, "recording_gap",
            ["participant": .string(participant.participantID), "untold": .integer(untoldCount)])
        (toldAt, untoldCount) = (now, 0)
    }

    private static let interval = Duration.seconds(1)
}
