import Admission
import Refusals
import SDP
import StageHub
import WebRTCTransport

/// What a WHEP offer comes to when we can send to it: at most one video and one audio section, each received by the offerer.
struct SubscriberOffer: Sendable, Equatable {
    /// In the offer's order.
    var sections: [SubscriberSection]
    var peer: PeerDescription

    func section(_ kind: MediaKind) -> SubscriberSection? { sections.first { $0.kind == kind } }

    /// Decides about a whole offer: every m-line is taken, or the POST is refused.
    init(negotiating offer: SessionDescription) throws(Refusal) {
        guard !offer.media.isEmpty else { throw malformed("The offer has no m-line: receive video, audio or both.") }
        let kinds = offer.media.map(\.media)
        guard Set(kinds).isSubset(of: ["video", "audio"]) else {
            throw Refusal(.unsupportedSection, sentence: "The offer has an m-line that is neither audio nor video: leave it out.")
        }
        guard Set(kinds).count == kinds.count else {
            throw Refusal(.tooManyTracks, sentence: "The offer has more than one audio or video track: receive one of each.")
        }
        let bundleMids = try PeerDescription.bundle(of: offer)
        sections = []
        for media in offer.media { sections.append(try SubscriberSection(negotiating: media)) }
        peer = try PeerDescription(negotiating: offer, bundleMids: bundleMids)
        // One count for the whole transport, and worth nothing without video.
        if section(.video)?.transportWideExtension == nil { leaveOutTransportWideFeedback() }
    }

    private mutating func leaveOutTransportWideFeedback() {
        for index in sections.indices {
            sections[index].transportWideExtension = nil
            sections[index].feedback.removeAll { $0 == SubscriberSection.transportWideFeedback }
        }
    }
}

/// One m-line of the offer with what we chose from it.
struct SubscriberSection: Sendable, Equatable {
    var kind: MediaKind
    var mid: String
    var transportProtocol: String
    var map: RTPMap
    /// As offered: the publisher's stream is sent as it is.
    var parameters: FormatParameters?
    /// Where retransmissions are understood (RFC 4588 §8.1); without, lost packets stay lost.
    var retransmissionPayloadType: UInt8?
    /// Those of the offer that we answer.
    var feedback: [String] = []
    /// The identifier of the MID extension (RFC 9143 §14), 1 to 14; nil when it was not offered.
    var midExtension: UInt8?
    /// The identifier of transport-wide numbers, where the offer tells of each packet's coming, and video is sent again.
    var transportWideExtension: UInt8?
    var hasReducedSizeRTCP: Bool

    init(negotiating media: MediaDescription) throws(Refusal) {
        try Self.checkDirection(of: media)
        try media.checkTransport()
        kind = media.media == "video" ? .video : .audio
        (mid, transportProtocol) = (media.mid ?? "", media.transportProtocol)
        hasReducedSizeRTCP = media.attributes.contains("rtcp-rsize")
        let formats = try OfferedFormats(of: media)
        let extensions: [HeaderExtensionMap]
        do throws(SDPError) {
            extensions = try media.attributes.strictly(HeaderExtensionMap.self)
        } catch { throw malformed("An a=extmap of the offer is malformed.") }
        map = try Self.choose(kind, formats)
        parameters = formats.parameters(of: map.payloadType)
        if kind == .video { retransmissionPayloadType = formats.retransmission(of: map.payloadType) }
        let offered = Set(media.feedback(of: map.payloadType))
        feedback = (retransmissionPayloadType == nil ? [] : ["nack"]).filter(offered.contains)
        if kind == .video { feedback += ["nack pli", "ccm fir", "goog-remb"].filter(offered.contains) }
        func identifier(of uri: String) -> UInt8? {
            extensions.first { $0.uri == uri && (1...14).contains($0.identifier) }.map { UInt8($0.identifier) }
        }
        midExtension = identifier(of: HeaderExtensionMap.mid)
        // Without RTX the way cannot be tried with padding, and the estimate could not rise.
        if offered.contains(Self.transportWideFeedback), kind == .audio || retransmissionPayloadType != nil {
            transportWideExtension = identifier(of: HeaderExtensionMap.transportWideCC)
        }
        if transportWideExtension != nil { feedback.append(Self.transportWideFeedback) }
        if mid.utf8.count > Self.maximumMidByteCount { midExtension = nil }
    }

    private static func checkDirection(of media: MediaDescription) throws(Refusal) {
        guard media.port != 0 || media.isBundleOnly, media.direction == .recvonly || media.direction == .sendrecv else {
            throw Refusal(.nothingReceived)
        }
    }

    private static func choose(_ kind: MediaKind, _ formats: OfferedFormats) throws(Refusal) -> RTPMap {
        if kind == .video { return try chooseH264(formats) }
        guard let opus = formats.maps.first(where: { $0.isEncoding("opus", clockRate: 48_000) }) else {
            throw Refusal(.noOpus, sentence: "The offer's audio track does not receive Opus.")
        }
        return opus
    }

    /// H.264 in packetization mode 1, Constrained Baseline before others, since that is what is published.
    ///
    /// GStreamer's whepclientsrc leaves the mode out. That stands for 0 (RFC 6184 §8.1), but it takes fragments all the same.
    private static func chooseH264(_ formats: OfferedFormats) throws(Refusal) -> RTPMap {
        let offered = formats.maps.filter { $0.isEncoding("H264", clockRate: 90_000) }
        func maps(inMode mode: String?) -> [RTPMap] {
            offered.filter { formats.parameters(of: $0.payloadType)?["packetization-mode"] == mode }
        }
        let fragmented = maps(inMode: "1")
        let usable = fragmented.isEmpty ? maps(inMode: nil) : fragmented
        let preferred = usable.first { map in
            let profile = formats.parameters(of: map.payloadType)?["profile-level-id"]?.lowercased() ?? ""
            return profile.hasPrefix("42e0")
        }
        guard let chosen = preferred ?? usable.first else {
            throw Refusal(
                .noH264,
                sentence: "The offer's video receives no H.264 in packetization mode 1 (Firefox: enable its OpenH264 plugin).")
        }
        return chosen
    }

    fileprivate static let transportWideFeedback = "transport-cc"
    /// What an element with a one-byte header holds (RFC 8285 §4.2).
    private static let maximumMidByteCount = 16
}

extension SubscriberOffer {
    /// The answer (RFC 9429 §5.3.1): all m-lines in the offer's order, each `sendonly`, both of one MediaStream.
    func answer(_ local: LocalDescription, _ sources: SubscriberSources, watched: ParticipantKey) -> SessionDescription {
        peer.answer(
            local,
            media: sections.map { $0.answer(at: local.primaryCandidate, sources, stream: watched.participantID) })
    }
}

extension SubscriberSection {
    fileprivate func answer(at primary: Candidate?, _ sources: SubscriberSources, stream: String) -> MediaDescription {
        var media = MediaDescription(
            answering: kind == .video ? "video" : "audio", mid: mid, transportProtocol: transportProtocol,
            payloadTypes: [map.payloadType] + (retransmissionPayloadType.map { [$0] } ?? []), at: primary)
        media.attributes.append("sendonly")
        media.attributes.append(MediaStreamIdentifier(stream: stream, track: kind == .video ? "video" : "audio"))
        for name in ["rtcp-mux", "rtcp-mux-only"] + (hasReducedSizeRTCP ? ["rtcp-rsize"] : []) { media.attributes.append(name) }
        media.appendFormat(map, parameters, feedback: feedback, retransmission: retransmissionPayloadType)
        for (id, uri) in [(midExtension, HeaderExtensionMap.mid), (transportWideExtension, HeaderExtensionMap.transportWideCC)] {
            if let id { media.attributes.append(HeaderExtensionMap(identifier: UInt16(id), uri: uri)) }
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
