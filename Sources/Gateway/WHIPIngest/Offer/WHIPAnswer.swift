import SDP
import Wire

/// Our side of an answer: credentials, certificate and the addresses we are reached at.
struct LocalDescription: Sendable {
    var ufrag: String
    var password: String
    /// SHA-256 of the DTLS certificate.
    var fingerprint: [UInt8]
    var candidates: [Candidate]
    /// Random digits for `o=`.
    var sessionID: UInt64
}

extension AcceptedOffer {
    /// The answer to this offer (RFC 9725 §4.2, RFC 9429 §5.3.1): all m-lines in the offer's order, each `recvonly`.
    func answer(_ local: LocalDescription) -> SessionDescription {
        let primary = local.candidates.first { $0.transport == .udp } ?? local.candidates.first
        var answer = SessionDescription(origin: Origin(sessionID: "\(local.sessionID >> 1)"))
        answer.attributes.append("ice-lite")
        if !bundleMids.isEmpty { answer.attributes.append(MediaGroup(semantics: "BUNDLE", mids: bundleMids)) }
        if allowsMixedExtensions { answer.attributes.append("extmap-allow-mixed") }
        if !iceOptions.isEmpty { answer.attributes.append("ice-options", iceOptions.joined(separator: " ")) }
        for (index, section) in sections.enumerated() {
            var media = section.answer(at: primary)
            // Repeated in every section, as browsers do: GStreamer and old libraries look for them there.
            media.attributes.append("ice-ufrag", local.ufrag)
            media.attributes.append("ice-pwd", local.password)
            media.attributes.append(Fingerprint(hashFunction: "sha-256", bytes: local.fingerprint))
            media.attributes.append("setup", isDTLSClient ? "active" : "passive")
            // Candidates stand in the tagged section alone (RFC 9143 §10.1).
            if section.mid == bundleMids.first ?? sections[0].mid || index == 0 && bundleMids.isEmpty {
                for candidate in local.candidates { media.attributes.append(candidate) }
                media.attributes.append("end-of-candidates")
            }
            answer.media.append(media)
        }
        return answer
    }
}

extension AcceptedSection {
    func answer(at primary: Candidate?) -> MediaDescription {
        let types = [payloadType] + (retransmissionPayloadType.map { [$0] } ?? [])
        var media = MediaDescription(
            media: kind == .video ? "video" : "audio", port: primary?.port ?? 9, transportProtocol: transportProtocol,
            formats: types.map(String.init))
        let address = primary?.connectionAddress ?? "0.0.0.0"
        media.connection = ConnectionData(addressType: address.contains(":") ? "IP6" : "IP4", address: address)
        if kind == .video { media.bandwidths = [Bandwidth("TIAS", Self.videoBitrate), Bandwidth("AS", Self.videoBandwidth)] }
        media.attributes.append("mid", mid)
        media.attributes.append("recvonly")
        for name in ["rtcp-mux", "rtcp-mux-only"] + (hasReducedSizeRTCP ? ["rtcp-rsize"] : []) { media.attributes.append(name) }
        media.attributes.append(map)
        if let parameters { media.attributes.append(parameters) }
        for name in feedback { media.attributes.append(RTCPFeedback(payloadType: payloadType, name)) }
        if let retransmissionPayloadType {
            media.attributes.append(RTPMap(payloadType: retransmissionPayloadType, encodingName: "rtx", clockRate: 90_000))
            media.attributes.append(FormatParameters(payloadType: retransmissionPayloadType, [.init("apt", "\(payloadType)")]))
        }
        for map in extensions { media.attributes.append(map.answered) }
        for rid in rids { media.attributes.append(RestrictionIdentifier(rid, .recv)) }
        if !rids.isEmpty { media.attributes.append(Simulcast(receive: rids.map { Simulcast.Stream([.init($0)]) })) }
        return media
    }

    /// Browsers obey these where their version of REMB beside transport-cc does not (8.5 Mbit/s is the contract's limit).
    private static let videoBitrate = 8_000_000
    private static let videoBandwidth = 8_200
}

extension HeaderExtensionMap {
    /// The same identifier seen from our side (RFC 8285 §8).
    fileprivate var answered: HeaderExtensionMap {
        HeaderExtensionMap(identifier: identifier, direction: direction == .sendonly ? .recvonly : nil, uri: uri)
    }
}
