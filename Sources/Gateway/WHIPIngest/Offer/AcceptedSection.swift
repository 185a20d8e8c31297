import H264
import Refusals
import SDP
import WebRTCTransport
import Wire

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
    /// The offer says `stereo=1` or `sprop-stereo=1`, or nothing at all; packets may still show it.
    var isStereo = false
    var retransmissionPayloadType: UInt8?
    /// The media source, where the offer names one without simulcast.
    var ssrc: UInt32?
    var retransmissionSSRC: UInt32?
    /// Simulcast encodings that go on, in the offer's order; empty without simulcast.
    var rids: [String] = []
    /// Those behind them, which are accepted too and go nowhere.
    var passedOverRIDs: [String] = []
    /// Those of the offer that we give or make use of.
    var feedback: [String] = []
    var extensions: [HeaderExtensionMap] = []
    var hasReducedSizeRTCP = false

    func hasFeedback(_ name: String) -> Bool { feedback.contains(name) }

    /// The identifier of a header extension; nil when it was not offered.
    func identifier(of uri: String) -> UInt8? { extensions.first { $0.uri == uri }.map { UInt8($0.identifier) } }
}

extension AcceptedSection {
    init(negotiating media: MediaDescription, rules: OfferRules) throws(Refusal) {
        try Self.checkDirection(of: media)
        try media.checkTransport()
        kind = media.media == "video" ? .video : .audio
        mid = media.mid ?? ""
        transportProtocol = media.transportProtocol
        hasReducedSizeRTCP = media.attributes.contains("rtcp-rsize")
        let formats = try OfferedFormats(of: media)
        switch kind {
        case .video:
            (map, parameters, profileLevelID) = try Self.chooseH264(formats, rules, forLayers: Self.layerFormats(of: media))
        case .audio: (map, parameters, isStereo) = try Self.chooseOpus(formats)
        }
        payloadType = map.payloadType
        feedback = Self.supportedFeedback.filter(Set(media.feedback(of: payloadType)).contains)
        extensions = try Self.extensions(of: media, usesTransportFeedback: feedback.contains("transport-cc"))
        if !extensions.contains(where: { $0.uri == HeaderExtensionMap.transportWideCC }) {
            feedback.removeAll { $0 == "transport-cc" }
        }
        if kind == .video {
            let offered = try Self.rids(of: media, as: payloadType, with: extensions)
            rids = Array(offered.prefix(OfferRules.maximumLayers))
            passedOverRIDs = Array(offered.dropFirst(OfferRules.maximumLayers))
            retransmissionPayloadType = formats.retransmission(of: payloadType)
            if Self.isLibWebRTC(media) { parameters?.parameters.append(.init("x-google-start-bitrate", "\(Self.startBitrate)")) }
        }
        (ssrc, retransmissionSSRC) = Self.sources(of: media, isSimulcast: rids.count > 1)
    }

    private static func checkDirection(of media: MediaDescription) throws(Refusal) {
        // 0 without bundle-only is a section the client itself has switched off (RFC 9143 §7.1).
        guard media.port != 0 || media.isBundleOnly else { throw Refusal(.inactiveTrack) }
        guard media.direction == .sendonly || media.direction == .sendrecv else { throw Refusal(.inactiveTrack) }
    }

    /// The media source and that of its retransmissions; with simulcast the RID extension tells sources apart.
    private static func sources(of media: MediaDescription, isSimulcast: Bool) -> (UInt32?, UInt32?) {
        guard !isSimulcast else { return (nil, nil) }
        let pair = media.attributes.all(SourceGroup.self).first { $0.semantics == "FID" && $0.ssrcs.count == 2 }
        if let pair { return (pair.ssrcs[0], pair.ssrcs[1]) }
        return (media.attributes.first(Source.self)?.ssrc, nil)
    }

    /// Every layer of a simulcast offer, the preferred ones first (RFC 8853 §5.2): OBS aborts unless all are accepted. Left out
    /// are those that are never of our payload type (RFC 8851 §6.3).
    private static func rids(
        of media: MediaDescription, as payloadType: UInt8, with extensions: [HeaderExtensionMap]
    ) throws(Refusal) -> [String] {
        guard media.attributes.contains("simulcast") else {
            try checkSources(of: media)
            return []
        }
        guard let simulcast = media.attributes.first(Simulcast.self), !simulcast.send.isEmpty else {
            throw malformed("The a=simulcast of the offer is malformed or sends nothing.")
        }
        let names = simulcast.send.flatMap(\.alternatives).map(\.identifier)
        let sendable = media.attributes.all(RestrictionIdentifier.self).filter { $0.direction == .send }
        guard Set(names).count == names.count, Set(sendable.map(\.identifier)).isSuperset(of: names) else {
            throw malformed("The a=simulcast of the offer names an encoding without a=rid.")
        }
        let usable = Set(sendable.filter { $0.payloadTypes?.contains(payloadType) ?? true }.map(\.identifier))
        let rids = simulcast.send.compactMap { $0.alternatives.first { usable.contains($0.identifier) }?.identifier }
        guard !rids.isEmpty else {
            throw Refusal(.noH264, sentence: "The offer's simulcast layers may not be of its H.264, by pt= of their a=rid.")
        }
        guard rids.count <= OfferRules.maximumOfferedLayers else { throw Refusal(.tooManyLayers) }
        guard rids.count == 1 || extensions.contains(where: { $0.uri == HeaderExtensionMap.rtpStreamID }) else {
            throw malformed("The offer has a=simulcast without a=extmap of rtp-stream-id, which tells its layers apart.")
        }
        return rids
    }

    /// Which formats some layer may have; nil where there is one that may have all.
    private static func layerFormats(of media: MediaDescription) -> Set<UInt8>? {
        let lists = media.attributes.all(RestrictionIdentifier.self).filter { $0.direction == .send }.map(\.payloadTypes)
        return lists.isEmpty || lists.contains { $0 == nil } ? nil : Set(lists.compactMap { $0 }.joined())
    }

    /// Layers that their SSRCs alone tell apart, as in Chromium before `sendEncodings`, would replace one another: the last to begin
    /// is taken.
    private static func checkSources(of media: MediaDescription) throws(Refusal) {
        let groups = media.attributes.all(SourceGroup.self)
        guard !groups.contains(where: { $0.semantics == "SIM" && $0.ssrcs.count > 1 }) else {
            throw Refusal(
                .tooManyTracks,
                sentence: "The offer has simulcast by a=ssrc-group:SIM: offer it by a=rid and a=simulcast, or send one layer.")
        }
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

extension AcceptedSection {
    /// One H.264 payload type (RFC 6184 §8.2.2), if there is one of a profile that is accepted.
    /// - Parameter layers: formats that layers may have; nil: all. Others are of no use, where there is a choice.
    private static func chooseH264(
        _ formats: OfferedFormats, _ rules: OfferRules, forLayers layers: Set<UInt8>?
    ) throws(Refusal) -> (RTPMap, FormatParameters?, String) {
        let all = formats.maps.filter { $0.isEncoding("H264", clockRate: 90_000) }
        let useful = all.filter { layers?.contains($0.payloadType) ?? true }
        let offered = (useful.isEmpty ? all : useful).map { (map: $0, parameters: formats.parameters(of: $0.payloadType)) }
        let ranked = offered.enumerated().map { (rank: rank($1.parameters, rules), index: $0, format: $1) }
        guard let best = ranked.min(by: { ($0.rank, $0.index) < ($1.rank, $1.index) })?.format else { throw Refusal(.noH264) }
        let profile = profileLevelID(best.parameters)
        guard rules.accepts(profileLevelID: profile) else {
            let name = SequenceParameterSet.profileName(UInt8(profile >> 16))
            throw Refusal(
                .wrongProfileOffered,
                sentence: "The offer has H.264 in \(name) profile only: set the encoder's profile to baseline.")
        }
        return (best.map, answered(best.map.payloadType, best.parameters, profile), hex(profile))
    }

    /// What is accepted first; of that mode 1, then Constrained Baseline (42 with constraint_set1), Baseline, others.
    private static func rank(_ parameters: FormatParameters?, _ rules: OfferRules) -> Int {
        let profile = profileLevelID(parameters)
        let isBaseline = profile >> 16 == 66
        let profileRank = isBaseline && profile & 0x4000 != 0 ? 0 : isBaseline ? 1 : 2
        let modeRank = parameters?["packetization-mode"] == "1" ? 0 : 10
        return (rules.accepts(profileLevelID: profile) ? 0 : 20) + modeRank + profileRank
    }

    /// Without the parameter it is Baseline, level 1 (RFC 6184 §8.1).
    private static func profileLevelID(_ parameters: FormatParameters?) -> UInt32 {
        guard let text = parameters?["profile-level-id"], let bytes = [UInt8](hexadecimal: text), bytes.count == 3 else {
            return 0x42_000A
        }
        return bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// Level 3.2 carries 720p at 60 frames a second; without level asymmetry the answer may not raise the level.
    private static func answered(_ payloadType: UInt8, _ offered: FormatParameters?, _ profile: UInt32) -> FormatParameters? {
        guard let offered else { return nil }
        var list: [FormatParameters.Parameter] = []
        let isAsymmetric = offered["level-asymmetry-allowed"] == "1"
        if isAsymmetric { list.append(.init("level-asymmetry-allowed", "1")) }
        if let mode = offered["packetization-mode"] { list.append(.init("packetization-mode", mode)) }
        let level = isAsymmetric ? max(profile & 0xFF, 0x20) : profile & 0xFF
        if offered["profile-level-id"] != nil { list.append(.init("profile-level-id", hex(profile & 0xFFFF00 | level))) }
        return list.isEmpty ? nil : FormatParameters(payloadType: payloadType, list)
    }

    private static func hex(_ value: UInt32) -> String {
        String(hexadecimal: [16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) })
    }

    /// Opus (RFC 7587 §7), its stereo and in-band FEC kept.
    private static func chooseOpus(_ formats: OfferedFormats) throws(Refusal) -> (RTPMap, FormatParameters?, Bool) {
        guard let map = formats.maps.first(where: { $0.isEncoding("opus", clockRate: 48_000) }) else {
            throw Refusal(.noOpus)
        }
        let offered = formats.parameters(of: map.payloadType)
        let saysStereo = offered?["stereo"] == "1" || offered?["sprop-stereo"] == "1"
        var list = (offered?.parameters ?? []).filter { receiverParameters.contains($0.name) && $0.name != "stereo" }
        if saysStereo { list.append(.init("stereo", "1")) }
        // ffmpeg and aiortc say nothing of their Opus, and send both channels.
        return (map, list.isEmpty ? nil : FormatParameters(payloadType: map.payloadType, list), saysStereo || offered == nil)
    }

    /// Parameters that tell what a receiver takes; the `sprop-` ones are a sender's.
    private static let receiverParameters: Set<String> = [
        "minptime", "maxptime", "maxaveragebitrate", "maxplaybackrate", "useinbandfec", "usedtx", "stereo",
    ]
}
