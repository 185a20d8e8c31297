public import DTLS

/// The peer's side of ICE and DTLS as its offer tells it, the same for who publishes and who subscribes.
public struct PeerDescription: Sendable, Equatable {
    /// True when we open the DTLS connection, because the offer says `setup:passive` (ffmpeg).
    public var isDTLSClient: Bool
    public var fingerprints: [CertificateFingerprint]
    /// `ice2`, `trickle`: the offered options, which the answer repeats.
    public var iceOptions: [String]
    /// The session-level or first `a=ice-ufrag`; a PATCH with another one is a restart.
    public var ufrag: String
    /// The mids of the BUNDLE group; empty for a single section without one.
    public var bundleMids: [String]
    /// Of the section in which candidates stand.
    public var taggedMid: String
    public var allowsMixedExtensions: Bool
}
