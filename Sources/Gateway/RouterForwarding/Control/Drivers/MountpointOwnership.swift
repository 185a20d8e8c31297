import OpenSSL
public import Wire

/// How a gateway knows its own mountpoints again, and may destroy them, after it was killed: by a key that outlives the process.
/// No other node of its platform has it: what lives there is nobody's to destroy here.
///
/// The mark stands in a mountpoint's metadata for all to read; its secret is an HMAC of the mark and known to the gateway alone.
public struct MountpointOwnership: Sendable, Equatable {
    private let key: Secret
    private let prefix: String
    /// Of versions that destroy all of theirs that they do not have, a living process's too: they are not to own ours.
    private let formerPrefix: String

    /// - Parameter key: 32 random bytes, kept in the data directory.
    public init(key: Secret) {
        self.key = key
        let name = Base64.standard.text(of: Digest.sha256(key.reveal()).prefix(9))
        (prefix, formerPrefix) = ("stagedoor2:\(name) ", "stagedoor:\(name) ")
    }

    /// - Parameter generation: makes marks, and so secrets, of one stage differ.
    func mark(stageID: String, generation: UInt64) -> String { "\(prefix)\(stageID) \(generation)" }

    func owns(_ mark: String) -> Bool { mark.hasPrefix(prefix) || mark.hasPrefix(formerPrefix) }

    func secret(of mark: String) -> Secret { Secret(Base64.standard.encode(HMAC.sha256(key: key.reveal(), Array(mark.utf8)))) }
}
