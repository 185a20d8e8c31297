import StageHub
import Wire

/// Notices when a publish's first media passes, and its end. Counts nothing: that is the ingest's.
final class SessionWatch: MediaSink {
    private let record: SessionRecord
    private let board: SessionBoard
    private let wallNow: @Sendable () -> WallTime
    private var isAwaited: Set<String> = ["firstVideo", "firstKeyframe", "firstAudio"]
    /// All of them have come: what every later run asks.
    private var isComplete = false

    init(_ record: SessionRecord, board: SessionBoard, wallNow: @escaping @Sendable () -> WallTime) {
        (self.record, self.board, self.wallNow) = (record, board, wallNow)
    }

    func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun) {
        guard !isComplete else { return }
        if run.track.kind == .audio { return reached("firstAudio") }
        reached("firstVideo")
        if run.isKeyframe { reached("firstKeyframe") }
    }

    private func reached(_ step: String) {
        guard isAwaited.remove(step) != nil else { return }
        isComplete = isAwaited.isEmpty
        board.note(step, of: record)
    }

    func formatChanged(_ track: TrackID, to format: TrackFormat) {}
    func muteChanged(_ track: TrackID, isMuted: Bool) {
        record.note(isMuted ? "\(track.kind)Muted" : "\(track.kind)Unmuted", at: wallNow())
    }
    func restarted() {}
    func ended(_ reason: PublicationEnd) { board.ended(record, reason) }
}
