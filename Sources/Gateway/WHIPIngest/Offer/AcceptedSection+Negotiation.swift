import Refusals
import SDP
import WebRTCTransport

extension AcceptedSection {
    init(negotiating media: MediaDescription, rules: OfferRules) throws(Refusal) {
        // 0 without bundle-only is a section the client itself has switched off (RFC 9143 §7.1).
        guard media.port != 0 || media.isBundleOnly else { throw Refusal(.inactiveTrack) }
        guard media.direction == .sendonly || media.direction == .sendrecv else { throw Refusal(.inactiveTrack) }
        guard ["UDP/TLS/RTP/SAVPF", "TCP/TLS/RTP/SAVPF", "UDP/TLS/RTP/SAVP"].contains(media.transportProtocol) else {
            throw Refusal(.unsupportedTransport)
        }
        guard media.attributes.contains("rtcp-mux") || media.attributes.contains("rtcp-mux-only") else {
            throw Refusal(.noRTCPMux)
        }
        kind = media.media == "video" ? .video : .audio
        mid = media.mid ?? ""
        transportProtocol = media.transportProtocol
        hasReducedSizeRTCP = media.attributes.contains("rtcp-rsize")
        let maps = try Self.maps(of: media)
        switch kind {
        case .video: (map, parameters, profileLevelID) = try Self.chooseH264(media, maps, rules)
        case .audio: (map, parameters, isStereo) = try Self.chooseOpus(media, maps)
        }
        payloadType = map.payloadType
        feedback = Self.supportedFeedback.filter(Set(media.feedback(of: payloadType)).contains)
        extensions = try Self.extensions(of: media, usesTransportFeedback: feedback.contains("transport-cc"))
        if !extensions.contains(where: { $0.uri == HeaderExtensionMap.transportWideCC }) {
            feedback.removeAll { $0 == "transport-cc" }
        }
        if kind == .video {
            rids = try Self.rids(of: media)
            retransmissionPayloadType = Self.retransmission(of: payloadType, media, maps)
            if Self.isLibWebRTC(media) { parameters?.parameters.append(.init("x-google-start-bitrate", "\(Self.startBitrate)")) }
        }
        (ssrc, retransmissionSSRC) = Self.sources(of: media, isSimulcast: rids.count > 1)
    }

    private static func maps(of media: MediaDescription) throws(Refusal) -> [RTPMap] {
        do throws(SDPError) {
            return try media.attributes.strictly(RTPMap.self)
        } catch { throw malformed("An a=rtpmap of the offer is malformed.") }
    }

    /// The payload type of RTX (RFC 4588 §8.1) whose `apt` is the chosen one.
    private static func retransmission(of payloadType: UInt8, _ media: MediaDescription, _ maps: [RTPMap]) -> UInt8? {
        let offered = Set(media.payloadTypes)
        return maps.first { map in
            map.isEncoding("rtx", clockRate: 90_000) && offered.contains(map.payloadType)
                && media.formatParameters(of: map.payloadType)?["apt"] == "\(payloadType)"
        }?.payloadType
    }

    /// The media source and that of its retransmissions; with simulcast the RID extension tells sources apart.
    private static func sources(of media: MediaDescription, isSimulcast: Bool) -> (UInt32?, UInt32?) {
        guard !isSimulcast else { return (nil, nil) }
        let pair = media.attributes.all(SourceGroup.self).first { $0.semantics == "FID" && $0.ssrcs.count == 2 }
        if let pair { return (pair.ssrcs[0], pair.ssrcs[1]) }
        return (media.attributes.first(Source.self)?.ssrc, nil)
    }

    /// Every layer of a simulcast offer (RFC 8853): OBS aborts unless all are accepted.
    private static func rids(of media: MediaDescription) throws(Refusal) -> [String] {
        guard media.attributes.contains("simulcast") else { return [] }
        guard let simulcast = media.attributes.first(Simulcast.self), !simulcast.send.isEmpty else {
            throw malformed("The a=simulcast of the offer is malformed or sends nothing.")
        }
        let rids = simulcast.send.compactMap { $0.alternatives.first?.identifier }
        let sendable = Set(media.attributes.all(RestrictionIdentifier.self).filter { $0.direction == .send }.map(\.identifier))
        guard Set(rids).count == rids.count, sendable.isSuperset(of: rids) else {
            throw malformed("The a=simulcast of the offer names an encoding without a=rid.")
        }
        guard rids.count <= OfferRules.maximumLayers else { throw Refusal(.tooManyLayers) }
        return rids
    }

    /// Extensions we read, with the offer's identifiers; those the offerer only receives are of no use.
    private static func extensions(
        of media: MediaDescription, usesTransportFeedback: Bool
    ) throws(Refusal) -> [HeaderExtensionMap] {
        let offered: [HeaderExtensionMap]
        do throws(SDPError) {
            offered = try media.attributes.strictly(HeaderExtensionMap.self)
        } catch { throw malformed("An a=extmap of the offer is malformed.") }
        var used: [HeaderExtensionMap] = []
        for map in offered where map.direction != .recvonly && map.direction != .inactive && map.identifier <= 255 {
            guard !used.contains(where: { $0.uri == map.uri || $0.identifier == map.identifier }) else { continue }
            switch map.uri {
            case HeaderExtensionMap.transportWideCC where usesTransportFeedback: used.append(map)
            case HeaderExtensionMap.mid, HeaderExtensionMap.rtpStreamID, HeaderExtensionMap.repairedRTPStreamID: used.append(map)
            default: break
            }
        }
        return used
    }

    /// Whether libwebrtc made the offer: Chromium, and what is built of it. Only it offers this header extension.
    private static func isLibWebRTC(_ media: MediaDescription) -> Bool {
        media.attributes.all(HeaderExtensionMap.self).contains { $0.uri == "\(webRTCExperiments)video-timing" }
    }

    private static let webRTCExperiments = "http://www.webrtc.org/experiments/rtp-hdrext/"

    /// In kbit/s, enough for 720p. libwebrtc begins at 300 otherwise, with a picture of 320x180 that grows for 15 s.
    private static let startBitrate = 2_000

    private static let supportedFeedback = ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"]
}
