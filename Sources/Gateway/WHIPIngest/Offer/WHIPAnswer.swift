import SDP
import WebRTCTransport

extension AcceptedOffer {
    /// The answer to this offer (RFC 9725 §4.2, RFC 9429 §5.3.1): all m-lines in the offer's order, each `recvonly`.
    func answer(_ local: LocalDescription) -> SessionDescription {
        peer.answer(local, media: sections.map { $0.answer(at: local.primaryCandidate) })
    }

    /// What REMB and the answer's TIAS allow, bit/s; 8.5 Mbit/s is the contract's limit.
    static let maximumBitrate = 8_000_000
}

extension AcceptedSection {
    func answer(at primary: Candidate?) -> MediaDescription {
        var media = MediaDescription(
            answering: kind == .video ? "video" : "audio", mid: mid, transportProtocol: transportProtocol,
            payloadTypes: [payloadType] + (retransmissionPayloadType.map { [$0] } ?? []), at: primary)
        if kind == .video {
            media.bandwidths = [Bandwidth("TIAS", AcceptedOffer.maximumBitrate), Bandwidth("AS", Self.videoBandwidth)]
        }
        media.attributes.append("recvonly")
        for name in ["rtcp-mux", "rtcp-mux-only"] + (hasReducedSizeRTCP ? ["rtcp-rsize"] : []) { media.attributes.append(name) }
        media.appendFormat(map, parameters, feedback: feedback, retransmission: retransmissionPayloadType)
        for map in extensions { media.attributes.append(map.answered) }
        let layers = rids + passedOverRIDs
        for rid in layers { media.attributes.append(RestrictionIdentifier(rid, .recv)) }
        if !layers.isEmpty { media.attributes.append(Simulcast(receive: layers.map { Simulcast.Stream([.init($0)]) })) }
        return media
    }

    /// The answer's AS, kbit/s. Browsers obey it and TIAS where their version of REMB beside transport-cc does not.
    private static let videoBandwidth = 8_200
}

extension HeaderExtensionMap {
    /// The same identifier seen from our side (RFC 8285 §8).
    fileprivate var answered: HeaderExtensionMap {
        HeaderExtensionMap(identifier: identifier, direction: direction == .sendonly ? .recvonly : nil, uri: uri)
    }
}
