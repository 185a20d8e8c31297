import SDP
import StageHub
import WebRTCTransport

extension SubscriberOffer {
    /// The answer (RFC 9429 §5.3.1): all m-lines in the offer's order, each `sendonly`, both of one MediaStream.
    func answer(_ local: LocalDescription, _ sources: SubscriberSources, watched: WatchedKey) -> SessionDescription {
        peer.answer(
            local,
            media: sections.map { $0.answer(at: local.primaryCandidate, sources, stream: watched.participantID) })
    }
}

extension SubscriberSection {
    fileprivate func answer(at primary: Candidate?, _ sources: SubscriberSources, stream: String) -> MediaDescription {
        let payloadType = map.payloadType
        let types = [payloadType] + (retransmissionPayloadType.map { [$0] } ?? [])
        var media = MediaDescription(
            media: kind == .video ? "video" : "audio", port: primary?.port ?? 9, transportProtocol: transportProtocol,
            formats: types.map(String.init))
        let address = primary?.connectionAddress ?? "0.0.0.0"
        media.connection = ConnectionData(addressType: address.contains(":") ? "IP6" : "IP4", address: address)
        media.attributes.append("mid", mid)
        media.attributes.append("sendonly")
        media.attributes.append(MediaStreamIdentifier(stream: stream, track: kind == .video ? "video" : "audio"))
        for name in ["rtcp-mux"] + (hasReducedSizeRTCP ? ["rtcp-rsize"] : []) { media.attributes.append(name) }
        media.attributes.append(map)
        if let parameters { media.attributes.append(parameters) }
        for name in feedback { media.attributes.append(RTCPFeedback(payloadType: payloadType, name)) }
        if let retransmissionPayloadType {
            media.attributes.append(RTPMap(payloadType: retransmissionPayloadType, encodingName: "rtx", clockRate: 90_000))
            media.attributes.append(FormatParameters(payloadType: retransmissionPayloadType, [.init("apt", "\(payloadType)")]))
        }
        if let midExtension {
            media.attributes.append(HeaderExtensionMap(identifier: UInt16(midExtension), uri: HeaderExtensionMap.mid))
        }
        appendSources(sources, stream: stream, to: &media)
        return media
    }

    private func appendSources(_ sources: SubscriberSources, stream: String, to media: inout MediaDescription) {
        var own = [kind == .video ? sources.video : sources.audio]
        if retransmissionPayloadType != nil {
            own.append(sources.retransmission)
            media.attributes.append(SourceGroup(semantics: "FID", ssrcs: own))
        }
        for ssrc in own {
            media.attributes.append(Source(ssrc: ssrc, name: "cname", value: SubscriberTrack.cname))
            media.attributes.append(Source(ssrc: ssrc, name: "msid", value: "\(stream) \(kind == .video ? "video" : "audio")"))
        }
    }
}
