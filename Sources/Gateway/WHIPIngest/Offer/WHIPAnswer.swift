import SDP
import WebRTCTransport

extension AcceptedOffer {
    /// The answer to this offer (RFC 9725 §4.2, RFC 9429 §5.3.1): all m-lines in the offer's order, each `recvonly`.
    func answer(_ local: LocalDescription) -> SessionDescription {
        peer.answer(local, media: sections.map { $0.answer(at: local.primaryCandidate, maximumBitrate: maximumBitrate) })
    }
}

extension AcceptedSection {
    func answer(at primary: Candidate?, maximumBitrate: Int) -> MediaDescription {
        var media = MediaDescription(
            answering: kind == .video ? "video" : "audio", mid: mid, transportProtocol: transportProtocol,
            payloadTypes: [payloadType] + (retransmissionPayloadType.map { [$0] } ?? []), at: primary)
        // Browsers obey these where their version of REMB beside transport-cc does not. AS counts headers, too: a fortieth.
        if kind == .video {
            media.bandwidths = [Bandwidth("TIAS", maximumBitrate), Bandwidth("AS", maximumBitrate / 1_000 * 41 / 40)]
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
}

extension HeaderExtensionMap {
    /// The same identifier seen from our side (RFC 8285 §8).
    fileprivate var answered: HeaderExtensionMap {
        HeaderExtensionMap(identifier: identifier, direction: direction == .sendonly ? .recvonly : nil, uri: uri)
    }
}
