import DataDirectory

/// `DIR/sdp/{participantId}.sdp`: what receivers read that cannot be asked. Mode 0600, never half a file.
public struct DescriptionFiles: Sendable {
    private let directory: String

    /// - Parameter directory: exists, mode 0700.
    public init(directory: String) { self.directory = directory }

    /// Nil for a name that is not a participant's: letters, digits, `-` and `_`, at most 64.
    public func path(of participantID: String) -> String? {
        let name = participantID.utf8
        let isName = 1...64 ~= name.count && name.allSatisfy { Self.nameBytes.contains($0) }
        return isName ? "\(directory)/\(participantID).sdp" : nil
    }

    /// Blocks while the disk is busy: not for a media loop. Nothing of it need outlive the machine: a publish writes its
    /// description anew, and a start those of all ingest configurations.
    /// - Returns: false when it could not be written.
    @discardableResult
    public func write(_ sdp: String, for participantID: String) -> Bool {
        guard let path = path(of: participantID) else { return false }
        return (try? AtomicFile.exchange(Array(sdp.utf8), at: path)) != nil
    }

    private static let nameBytes = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}
