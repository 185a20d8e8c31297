import RTP
import SDP
import SRTP
import StageHub
import Wire

/// What a router's SDP answer says of our offer (RFC 3264 §6): where each track goes and which feedback it keeps.
struct RouterAnswer {
    struct Track: Equatable {
        var rtp: SocketAddress
        var rtcp: SocketAddress
        var isNACKed: Bool
    }

    /// In the order of the offer's m-lines; nil for a rejected one.
    var tracks: [Track?]
    /// The router's own SRTP key.
    var feedbackKeys: SRTPKeys?

    /// - Throws: `.unacceptable` with the rule that the answer breaks.
    init(_ sdp: String, offered tracks: [TrackID], isProtected: Bool, trust: RouterTrust) throws(AnnounceFailure) {
        guard let session = try? SessionDescription(parsing: Array(sdp.utf8)) else {
            throw .unacceptable("the answer is not SDP")
        }
        guard session.media.count == tracks.count else { throw .unacceptable("the answer has other m-lines than the offer") }
        self.tracks = []
        for (media, track) in zip(session.media, tracks) {
            guard media.media == (track.kind == .video ? "video" : "audio") else {
                throw .unacceptable("the answer's m-lines are in another order")
            }
            self.tracks.append(try Self.track(media, track, session, trust))
            guard isProtected, media.port != 0 else { continue }
            guard media.transportProtocol.contains("SAVP"), let crypto = media.attributes.first(CryptoAttribute.self),
                let keys = SRTPKeys(crypto)
            else { throw .unacceptable("the answer gives no key of ours") }
            feedbackKeys = keys
        }
        guard self.tracks.contains(where: { $0 != nil }) else { throw .unacceptable("the answer takes no track") }
    }

    private static func track(
        _ media: MediaDescription, _ track: TrackID, _ session: SessionDescription, _ trust: RouterTrust
    ) throws(AnnounceFailure) -> Track? {
        guard media.port != 0 else { return nil }
        guard let text = (media.connection ?? session.connection)?.address, let ip = IPAddress(text) else {
            throw .unacceptable("the answer names no address")
        }
        guard media.payloadTypes.contains(LegPlan.payloadType(of: track.kind)) else {
            throw .unacceptable("the answer takes another payload type")
        }
        let rtp = SocketAddress(ip, port: media.port)
        let rtcp = SocketAddress(ip, port: try controlPort(media))
        guard trust.admits(rtp), trust.admits(rtcp) else { throw .unacceptable("\(rtp) is not the router's to name") }
        let isNACKed = media.feedback(of: LegPlan.payloadType(of: track.kind)).contains("nack")
        return Track(rtp: rtp, rtcp: rtcp, isNACKed: isNACKed)
    }

    /// RFC 5761 §5.1.1, RFC 3605, else the next port (RFC 3550 §11).
    private static func controlPort(_ media: MediaDescription) throws(AnnounceFailure) -> UInt16 {
        if media.attributes.contains("rtcp-mux") { return media.port }
        if let value = media.attributes.value(of: "rtcp"), let port = UInt16(value.prefix { $0 != " " }) { return port }
        guard media.port < UInt16.max else { throw .unacceptable("the answer leaves no port for RTCP") }
        return media.port + 1
    }
}
