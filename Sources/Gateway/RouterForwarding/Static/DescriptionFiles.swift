public import Admission
import DataDirectory

/// `DIR/sdp/{stageId}-{participantId}.sdp`: what receivers read that cannot be asked. Mode 0600, never half a file.
public struct DescriptionFiles: Sendable {
    private let directory: String

    /// - Parameter directory: exists, mode 0700.
    public init(directory: String) { self.directory = directory }

    /// Nil for names that are not a stage's and a participant's: letters, digits, `-` and `_`, at most 64, none missing.
    public func path(of participant: ParticipantKey) -> String? {
        let areNames = [participant.stageID, participant.participantID].allSatisfy { name in
            1...64 ~= name.utf8.count && name.utf8.allSatisfy { Self.nameBytes.contains($0) }
        }
        return areNames ? "\(directory)/\(participant.name).sdp" : nil
    }

    /// Blocks while the disk is busy: not for a media loop. Nothing of it need outlive the machine: a publish writes its
    /// description anew, and a start those of all ingest configurations.
    /// - Returns: false when it could not be written.
    @discardableResult
    public func write(_ sdp: String, for participant: ParticipantKey) -> Bool {
        guard let path = path(of: participant) else { return false }
        return (try? AtomicFile.exchange(Array(sdp.utf8), at: path)) != nil
    }

    private static let nameBytes = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}
