import Refusals
import StageHub
import Wire

/// Notices when a publish's first media passes, and its end. Counts nothing: that is the ingest's.
final class SessionWatch: MediaSink {
    private let record: SessionRecord
    private let board: SessionBoard
    private let wallNow: @Sendable () -> WallTime
    private unowned let publication: Publication
    private var isAwaited: Set<String> = ["firstVideo", "firstKeyframe", "firstAudio"]

    init(
        _ record: SessionRecord, of publication: Publication, board: SessionBoard, wallNow: @escaping @Sendable () -> WallTime
    ) {
        (self.record, self.publication, self.board, self.wallNow) = (record, publication, board, wallNow)
    }

    func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun) {
        if run.track.kind == .audio { return reached("firstAudio") }
        reached("firstVideo")
        if run.isKeyframe { reached("firstKeyframe") }
    }

    private func reached(_ step: String) {
        guard isAwaited.remove(step) != nil else { return }
        // All have come: what follows would only be looked at.
        if isAwaited.isEmpty { publication.stopForwarding(to: self) }
        board.note(step, of: record)
    }

    func formatChanged(_ track: TrackID, to format: TrackFormat) {}
    func muteChanged(_ track: TrackID, isMuted: Bool) {
        record.note(isMuted ? "\(track.kind)Muted" : "\(track.kind)Unmuted", at: wallNow())
    }
    func restarted() {}
    func ended(_ reason: SessionEnd) { board.ended(record, reason) }
}
