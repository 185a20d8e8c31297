import RTP
import SDP
import StageHub
import Wire

/// What a router is told of one participant's media, as an RFC 8866 offer or, for `static`, as a file.
struct RouterDescription: Sendable {
    /// One m-line.
    struct Track: Sendable, Equatable {
        var track: TrackID
        var port: UInt16
        /// Nil before anything is announced: then the description names none.
        var ssrc: UInt32?
        var format: TrackFormat?

        init(track: TrackID, port: UInt16, ssrc: UInt32? = nil, format: TrackFormat? = nil) {
            (self.track, self.port, self.ssrc, self.format) = (track, port, ssrc, format)
        }
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
        let payloadType = LegPlan.payloadType(of: track.track.kind)
        var media = MediaDescription(
            media: track.track.kind == .video ? "video" : "audio", port: track.port, transportProtocol: transportProtocol,
            formats: ["\(payloadType)"])
        media.attributes.append(track.track.kind == .video ? Self.h264Map(payloadType) : Self.opusMap(payloadType))
        media.attributes.append(parameters(of: track, payloadType))
        if let crypto { media.attributes.append(CryptoAttribute(tag: 1, suite: crypto.suite, inlineKey: crypto.inlineKey)) }
        if isOffer { appendOffer(of: track, payloadType, to: &media.attributes) }
        if let ssrc = track.ssrc {
            media.attributes.append(Source(ssrc: ssrc, name: "cname", value: participantID))
        }
        return media
    }

    private var transportProtocol: String {
        (crypto == nil ? "RTP/AVP" : "RTP/SAVP") + (isOffer ? "F" : "")
    }

    private func appendOffer(of track: Track, _ payloadType: UInt8, to attributes: inout [Attribute]) {
        attributes.append("sendonly")
        attributes.append("mid", track.track.kind == .video ? "0" : "1")
        attributes.append(
            MediaStreamIdentifier(stream: participantID, track: track.track.kind == .video ? "video" : "audio"))
        attributes.append("rtcp-mux")
        attributes.append(RTCPFeedback(payloadType: payloadType, "nack"))
        guard track.track.kind == .video else { return }
        for feedback in ["nack pli", "ccm fir", "goog-remb"] {
            attributes.append(RTCPFeedback(payloadType: payloadType, feedback))
        }
    }

    private static func h264Map(_ payloadType: UInt8) -> RTPMap {
        RTPMap(payloadType: payloadType, encodingName: "H264", clockRate: UInt32(ClockRate.video))
    }

    private static func opusMap(_ payloadType: UInt8) -> RTPMap {
        RTPMap(payloadType: payloadType, encodingName: "opus", clockRate: UInt32(ClockRate.audio), encodingParameters: "2")
    }

    private func parameters(of track: Track, _ payloadType: UInt8) -> FormatParameters {
        Self.parameters(of: track.track, track.format, payloadType)
    }

    /// The value of `a=fmtp` behind the payload type; nil when there is nothing to say.
    static func formatParameters(of track: TrackID, _ format: TrackFormat?) -> String? {
        let value = parameters(of: track, format, 0).attributeValue.dropFirst(2)
        return value.isEmpty ? nil : String(value)
    }

    private static func parameters(of track: TrackID, _ format: TrackFormat?, _ payloadType: UInt8) -> FormatParameters {
        var list: [FormatParameters.Parameter] = []
        if track.kind == .video { list = [.init("packetization-mode", "1"), .init("level-asymmetry-allowed", "1")] }
        switch format {
        case .h264(let sps, let pps):
            if sps.count >= 4 { list.append(.init("profile-level-id", String(hexadecimal: sps[1...3]))) }
            list.append(.init("sprop-parameter-sets", [sps, pps].map { Base64.standard.text(of: $0) }.joined(separator: ",")))
        case .h264Offered(let profileLevelID): list.append(.init("profile-level-id", profileLevelID))
        case .opus(let isStereo):
            let value = isStereo ? "1" : "0"
            list = [.init("stereo", value), .init("sprop-stereo", value), .init("useinbandfec", "1")]
        case nil: if track.kind == .audio { list = [.init("useinbandfec", "1")] }
        }
        return FormatParameters(payloadType: payloadType, list)
    }
}
