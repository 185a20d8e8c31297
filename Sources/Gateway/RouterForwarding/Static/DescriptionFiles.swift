public import Admission
import DataDirectory
import Glibc

/// `DIR/sdp/{stageId}/{participantId}.sdp`: what receivers read that cannot be asked. Mode 0600, never half a file.
///
/// `DIR/sdp/{participantId}.sdp` is a link to it, for people and scripts. A participant's id is its own on its stage alone: of two
/// stages that have the same one, the first has the link.
public struct DescriptionFiles: Sendable {
    private let directory: String

    /// - Parameter directory: exists, mode 0700.
    public init(directory: String) { self.directory = directory }

    /// Nil for names that are not a stage's and a participant's: letters, digits, `-` and `_`, at most 64, none missing.
    public func path(of participant: ParticipantKey) -> String? {
        guard Self.isName(participant.stageID), Self.isName(participant.participantID) else { return nil }
        return "\(directory)/\(participant.stageID)/\(participant.participantID).sdp"
    }

    /// The link's path; nil for what is no participant's id.
    public func path(ofFirst participantID: String) -> String? {
        Self.isName(participantID) ? "\(directory)/\(participantID).sdp" : nil
    }

    /// Blocks while the disk is busy: not for a media loop. Nothing of it need outlive the machine: a publish writes its
    /// description anew, and a start those of all ingest configurations.
    /// - Returns: false when it could not be written.
    @discardableResult
    public func write(_ sdp: String, for participant: ParticipantKey) -> Bool {
        guard let path = path(of: participant), let link = self.path(ofFirst: participant.participantID) else { return false }
        mkdir("\(directory)/\(participant.stageID)", 0o700)
        guard (try? AtomicFile.exchange(Array(sdp.utf8), at: path)) != nil else { return false }
        Self.lead(link, to: "\(participant.stageID)/\(participant.participantID).sdp")
        return true
    }

    /// Whoever has the link keeps it. Earlier versions wrote the description itself there, which nobody would renew.
    private static func lead(_ link: String, to target: String) {
        var status = stat()
        guard symlink(target, link) != 0, lstat(link, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        let made = link + ".link"
        unlink(made)
        if symlink(target, made) == 0 { rename(made, link) }
    }

    private static func isName(_ text: String) -> Bool {
        1...64 ~= text.utf8.count && text.utf8.allSatisfy { nameBytes.contains($0) }
    }

    private static let nameBytes = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}
