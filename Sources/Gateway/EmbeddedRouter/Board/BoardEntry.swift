import Refusals
import StageHub

/// A publication's name on the board: a sink that takes no media, only notices mute and the end. Confined to the publication's worker.
final class BoardEntry: MediaSink {
    private var participant: LiveParticipant
    private let board: StageBoard

    init(_ participant: LiveParticipant, on board: StageBoard) { (self.participant, self.board) = (participant, board) }

    func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun) {}
    func formatChanged(_ track: TrackID, to format: TrackFormat) {}
    func restarted() {}

    func muteChanged(_ track: TrackID, isMuted: Bool) {
        if isMuted { participant.muted.insert(track) } else { participant.muted.remove(track) }
        board.update(participant)
    }

    func ended(_ reason: SessionEnd) { board.remove(participant) }
}
