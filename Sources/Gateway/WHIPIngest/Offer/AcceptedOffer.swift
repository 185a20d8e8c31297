import Refusals
import SDP
import StageHub
import WebRTCTransport

/// What an offer comes to when it is publishable: the tracks we take and the peer's side of ICE and DTLS (RFC 9725 §4.2).
struct AcceptedOffer: Sendable, Equatable {
    let video: AcceptedSection
    let audio: AcceptedSection?
    let peer: PeerDescription
    /// What REMB and the answer allow of video, bit/s.
    let maximumBitrate: Int
    private let beginsWithVideo: Bool

    /// In the offer's order.
    var sections: [AcceptedSection] {
        guard let audio else { return [video] }
        return beginsWithVideo ? [video, audio] : [audio, video]
    }
}

extension AcceptedOffer {
    /// Decides about a whole offer: every m-line is taken, or the POST is refused (RFC 9725 §4.2: no partly accepted ingest).
    init(negotiating offer: SessionDescription, rules: OfferRules = OfferRules()) throws(Refusal) {
        guard !offer.media.isEmpty else {
            throw malformed("The offer has no m-line: send one video and at most one audio track.")
        }
        let (videoMedia, audioMedia) = try Self.tracks(of: offer)
        let bundleMids = try PeerDescription.bundle(of: offer)
        video = try AcceptedSection(negotiating: videoMedia, rules: rules)
        if let audioMedia { audio = try AcceptedSection(negotiating: audioMedia, rules: rules) } else { audio = nil }
        beginsWithVideo = offer.media.first?.media == "video"
        try Self.checkStreams(offer)
        peer = try PeerDescription(negotiating: offer, bundleMids: bundleMids)
        maximumBitrate = rules.allowedBitrate
    }

    /// One video track with H.264 and at most one audio track (RFC 9725 §4.4.1).
    private static func tracks(
        of offer: SessionDescription
    ) throws(Refusal) -> (video: MediaDescription, audio: MediaDescription?) {
        if let other = offer.media.map(\.media).first(where: { $0 != "video" && $0 != "audio" }) {
            throw Refusal(
                .unsupportedSection, sentence: "The offer has an m-line of kind \(other.prefix(32)): send audio and video only.")
        }
        let (pictures, sound) = (offer.media.filter { $0.media == "video" }, offer.media.filter { $0.media == "audio" })
        guard pictures.count <= 1, sound.count <= 1 else { throw Refusal(.tooManyTracks) }
        guard let video = pictures.first else { throw Refusal(.noH264) }
        return (video, sound.first)
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
    /// Bit/s of video; nil without a limit.
    var acceptedBitrate: Int? = usualBitrate

    /// What an encoder may send, bit/s: it overshoots now and then, and 8 Mbit/s of 8.5 leave it room.
    var allowedBitrate: Int { (acceptedBitrate ?? Self.usualBitrate) / 17 * 16 }

    /// - Parameter profileLevelID: 24 bits (RFC 6184 §8.1).
    func accepts(profileLevelID: UInt32) -> Bool {
        acceptedProfiles?.contains(UInt8(truncatingIfNeeded: profileLevelID >> 16)) ?? true
    }

    private static let usualBitrate = 8_500_000
    /// Layers of simulcast that go on; browsers and the IVS SDKs send three at most, OBS four.
    static let maximumLayers = PublishCounters.maximumLayerCount
    /// Those that may be offered: what goes nowhere costs its encoder's bandwidth, and our decryption.
    static let maximumOfferedLayers = 8
}
