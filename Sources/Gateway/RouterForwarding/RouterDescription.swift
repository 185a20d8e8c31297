import RTP
import SDP
import StageHub
import Wire

/// What a router is told of one participant's media, as an RFC 8866 offer or, for `static`, as a file.
struct RouterDescription: Sendable {
    /// One m-line.
    struct Track: Sendable, Equatable {
        var kind: MediaKind
        var port: UInt16
        /// One, or one of each layer; none before anything is announced.
        var ssrcs: [UInt32]
        var format: TrackFormat?
        /// Of the layers whose SSRCs these are; none without simulcast.
        var rids: [LayerName] = []
        /// Which layer it is, where each has an m-line of its own (RFC 4574).
        var label: LayerName?

        init(_ kind: MediaKind, port: UInt16, ssrcs: [UInt32] = [], format: TrackFormat? = nil) {
            (self.kind, self.port, self.ssrcs, self.format) = (kind, port, ssrcs, format)
        }
    }

    /// Of the header extensions that offers with layers name.
    enum ExtensionID {
        static let mid: UInt8 = 1
        static let rid: UInt8 = 2
    }

    /// Canonical name and stream of all tracks.
    var participantID: String
    /// Decimal digits; the generation of the announce.
    var sessionVersion: UInt64
    /// Where media goes (`static`) or comes from (offers).
    var address: IPAddress
    var tracks: [Track]
    /// One port for RTP and RTCP, and feedback offered: announced routers. `static` has RTCP on the next port.
    var isOffer: Bool
    /// The SDES key of our direction: suite and base64 text.
    var crypto: (suite: String, inlineKey: Secret)?

    init(participantID: String, sessionVersion: UInt64, address: IPAddress, tracks: [Track], isOffer: Bool) {
        (self.participantID, self.sessionVersion, self.address) = (participantID, sessionVersion, address)
        (self.tracks, self.isOffer) = (tracks, isOffer)
    }

    static func mid(of kind: MediaKind) -> String { kind == .video ? "0" : "1" }

    /// The description as text. With `crypto` it holds a key: never log it.
    var text: String {
        let type = address.isV4 ? "IP4" : "IP6"
        var session = SessionDescription(
            origin: Origin(
                username: "stagedoor", sessionID: "\(sessionVersion)", sessionVersion: "\(sessionVersion)", addressType: type,
                address: "\(address)"))
        session.sessionName = participantID
        session.connection = ConnectionData(addressType: type, address: "\(address)")
        session.media = tracks.map(section)
        return session.text
    }

    private func section(_ track: Track) -> MediaDescription {
        let payloadType = LegPlan.payloadType(of: track.kind)
        var media = MediaDescription(
            media: track.kind == .video ? "video" : "audio", port: track.port, transportProtocol: transportProtocol,
            formats: ["\(payloadType)"])
        media.attributes.append(track.kind == .video ? Self.h264Map(payloadType) : Self.opusMap(payloadType))
        media.attributes.append(parameters(of: track, payloadType))
        if let crypto { media.attributes.append(CryptoAttribute(tag: 1, suite: crypto.suite, inlineKey: crypto.inlineKey)) }
        if isOffer { appendOffer(of: track, payloadType, to: &media.attributes) }
        if let label = track.label { media.attributes.append("label", label.rawValue) }
        if !track.rids.isEmpty { appendLayers(of: track, payloadType, to: &media.attributes) }
        for ssrc in track.ssrcs { media.attributes.append(Source(ssrc: ssrc, name: "cname", value: participantID)) }
        return media
    }

    private var transportProtocol: String {
        (crypto == nil ? "RTP/AVP" : "RTP/SAVP") + (isOffer ? "F" : "")
    }

    private func appendOffer(of track: Track, _ payloadType: UInt8, to attributes: inout [Attribute]) {
        attributes.append("sendonly")
        attributes.append("mid", Self.mid(of: track.kind))
        attributes.append(
            MediaStreamIdentifier(stream: participantID, track: track.kind == .video ? "video" : "audio"))
        attributes.append("rtcp-mux")
        attributes.append(RTCPFeedback(payloadType: payloadType, "nack"))
        guard track.kind == .video else { return }
        for feedback in ["nack pli", "ccm fir", "goog-remb"] {
            attributes.append(RTCPFeedback(payloadType: payloadType, feedback))
        }
    }

    /// RFC 8853 §5.1, RFC 5576 §4.2: as a router may have learnt it.
    private func appendLayers(of track: Track, _ payloadType: UInt8, to attributes: inout [Attribute]) {
        attributes.append(RTCPFeedback(payloadType: payloadType, "ccm pause nowait"))
        attributes.append(HeaderExtensionMap(identifier: UInt16(ExtensionID.mid), uri: HeaderExtensionMap.mid))
        attributes.append(HeaderExtensionMap(identifier: UInt16(ExtensionID.rid), uri: HeaderExtensionMap.rtpStreamID))
        for rid in track.rids { attributes.append(RestrictionIdentifier(rid.rawValue, .send)) }
        attributes.append(Simulcast(send: track.rids.map { .init([.init($0.rawValue)]) }))
        attributes.append(SourceGroup(semantics: "SIM", ssrcs: track.ssrcs))
    }

    private static func h264Map(_ payloadType: UInt8) -> RTPMap {
        RTPMap(payloadType: payloadType, encodingName: "H264", clockRate: UInt32(ClockRate.video))
    }

    private static func opusMap(_ payloadType: UInt8) -> RTPMap {
        RTPMap(payloadType: payloadType, encodingName: "opus", clockRate: UInt32(ClockRate.audio), encodingParameters: "2")
    }

    private func parameters(of track: Track, _ payloadType: UInt8) -> FormatParameters {
        Self.parameters(of: track.kind, track.format, payloadType)
    }

    /// The value of `a=fmtp` behind the payload type; nil when there is nothing to say.
    static func formatParameters(of kind: MediaKind, _ format: TrackFormat?) -> String? {
        let value = parameters(of: kind, format, 0).attributeValue.dropFirst(2)
        return value.isEmpty ? nil : String(value)
    }

    private static func parameters(of kind: MediaKind, _ format: TrackFormat?, _ payloadType: UInt8) -> FormatParameters {
        var list: [FormatParameters.Parameter] = []
        if kind == .video { list = [.init("packetization-mode", "1"), .init("level-asymmetry-allowed", "1")] }
        switch format {
        case .h264(let sps, let pps):
            if sps.count >= 4 { list.append(.init("profile-level-id", String(hexadecimal: sps[1...3]))) }
            list.append(.init("sprop-parameter-sets", [sps, pps].map { Base64.standard.text(of: $0) }.joined(separator: ",")))
        case .h264Offered(let profileLevelID): list.append(.init("profile-level-id", profileLevelID))
        case .opus(let isStereo):
            let value = isStereo ? "1" : "0"
            list = [.init("stereo", value), .init("sprop-stereo", value), .init("useinbandfec", "1")]
        case nil: if kind == .audio { list = [.init("useinbandfec", "1")] }
        }
        return FormatParameters(payloadType: payloadType, list)
    }
}
