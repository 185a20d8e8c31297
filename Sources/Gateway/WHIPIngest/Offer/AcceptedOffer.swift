import Refusals
import SDP
import StageHub
import WebRTCTransport

/// What an offer comes to when it is publishable: the tracks we take and the peer's side of ICE and DTLS (RFC 9725 §4.2).
struct AcceptedOffer: Sendable, Equatable {
    /// In the offer's order; one video section and at most one audio section.
    var sections: [AcceptedSection]
    var peer: PeerDescription

    var video: AcceptedSection { sections.first { $0.kind == .video } ?? sections[0] }  // negotiation demands one
    var audio: AcceptedSection? { sections.first { $0.kind == .audio } }
}

extension AcceptedOffer {
    /// Decides about a whole offer: every m-line is taken, or the POST is refused (RFC 9725 §4.2: no partly accepted ingest).
    init(negotiating offer: SessionDescription, rules: OfferRules = OfferRules()) throws(Refusal) {
        guard !offer.media.isEmpty else {
            throw malformed("The offer has no m-line: send one video and at most one audio track.")
        }
        try Self.checkTracks(offer)
        let bundleMids = try PeerDescription.bundle(of: offer)
        sections = []
        for media in offer.media { sections.append(try AcceptedSection(negotiating: media, rules: rules)) }
        try Self.checkStreams(offer)
        peer = try PeerDescription(negotiating: offer, bundleMids: bundleMids)
    }

    /// One video track with H.264 and at most one audio track (RFC 9725 §4.4.1).
    private static func checkTracks(_ offer: SessionDescription) throws(Refusal) {
        let kinds = offer.media.map(\.media)
        if let other = kinds.first(where: { $0 != "video" && $0 != "audio" }) {
            throw Refusal(
                .unsupportedSection, sentence: "The offer has an m-line of kind \(other.prefix(32)): send audio and video only.")
        }
        guard kinds.count(where: { $0 == "video" }) <= 1, kinds.count(where: { $0 == "audio" }) <= 1 else {
            throw Refusal(.tooManyTracks)
        }
        guard kinds.contains("video") else { throw Refusal(.noH264) }
    }

    /// All tracks belong to one MediaStream (RFC 9725 §4.4.2).
    private static func checkStreams(_ offer: SessionDescription) throws(Refusal) {
        var streams = Set<String>()
        for media in offer.media {
            streams.formUnion(media.attributes.all(MediaStreamIdentifier.self).map(\.stream))
            let sources = media.attributes.all(Source.self).filter { $0.name == "msid" }
            streams.formUnion(
                sources.compactMap { $0.value?.utf8.split(separator: UInt8(ascii: " ")).first.map { String(Substring($0)) } })
        }
        if streams.subtracting(["-"]).count > 1 { throw Refusal(.tooManyStreams) }
    }
}

/// What of the media contract an offer can show already.
struct OfferRules: Sendable {
    /// profile_idc values that are published: Baseline unless an operator accepts more. nil leaves it to the parameter sets.
    var acceptedProfiles: Set<UInt8>? = [66]

    /// Layers of simulcast; OBS, browsers and the IVS SDKs send three at most.
    static let maximumLayers = PublishCounters.maximumLayerCount
}
