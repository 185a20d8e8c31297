import SDP
import WebRTCTransport

/// What an offer comes to when it is publishable: the tracks we take and the peer's side of ICE and DTLS (RFC 9725 §4.2).
struct AcceptedOffer: Sendable, Equatable {
    /// In the offer's order; one video section and at most one audio section.
    var sections: [AcceptedSection]
    var peer: PeerDescription

    var video: AcceptedSection { sections.first { $0.kind == .video } ?? sections[0] }  // negotiation demands one
    var audio: AcceptedSection? { sections.first { $0.kind == .audio } }
}

/// One m-line of the offer with what we chose from it.
struct AcceptedSection: Sendable, Equatable {
    enum Kind: Sendable { case video, audio }

    var kind: Kind
    var mid: String
    var transportProtocol: String
    var payloadType: UInt8
    /// The rtpmap as offered (`OPUS` stays `OPUS`).
    var map: RTPMap
    /// What the answer says of the format.
    var parameters: FormatParameters?
    /// As offered, six hex digits; empty for audio.
    var profileLevelID = ""
    /// The offer says `stereo=1` or `sprop-stereo=1`.
    var isStereo = false
    var retransmissionPayloadType: UInt8?
    /// The media source, where the offer names one without simulcast.
    var ssrc: UInt32?
    var retransmissionSSRC: UInt32?
    /// Simulcast encodings in the offer's order; empty without simulcast.
    var rids: [String] = []
    /// Those of the offer that we give or make use of.
    var feedback: [String] = []
    var extensions: [HeaderExtensionMap] = []
    var hasReducedSizeRTCP = false

    func hasFeedback(_ name: String) -> Bool { feedback.contains(name) }

    /// The identifier of a header extension; nil when it was not offered.
    func identifier(of uri: String) -> UInt8? { extensions.first { $0.uri == uri }.map { UInt8($0.identifier) } }
}
