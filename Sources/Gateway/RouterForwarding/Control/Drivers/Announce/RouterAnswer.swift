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
        /// Of the layers that were offered, those it takes; none where it takes one, whichever.
        var layers: [Layer] = []
        /// It reads MID and RID in header extensions.
        var takesMID = false
        var takesRID = false
    }

    struct Layer: Equatable {
        var rid: LayerName
        var isPaused: Bool
    }

    /// In the order of the offer's m-lines; nil for a rejected one.
    var tracks: [Track?]
    /// The router's own SRTP key.
    var feedbackKeys: SRTPKeys?

    /// - Throws: `.unacceptable` with the rule that the answer breaks.
    init(
        _ sdp: String, offered kinds: [MediaKind], layers: [LayerName] = [], isProtected: Bool, trust: RouterTrust
    ) throws(AnnounceFailure) {
        guard let session = try? SessionDescription(parsing: Array(sdp.utf8)) else {
            throw .unacceptable("the answer is not SDP")
        }
        guard session.media.count == kinds.count else { throw .unacceptable("the answer has other m-lines than the offer") }
        tracks = []
        for (media, kind) in zip(session.media, kinds) {
            guard media.media == (kind == .video ? "video" : "audio") else {
                throw .unacceptable("the answer's m-lines are in another order")
            }
            var track = try Self.track(media, kind, session, trust)
            if kind == .video, !layers.isEmpty { track?.readLayers(of: media, offered: layers) }
            tracks.append(track)
            guard isProtected, media.port != 0 else { continue }
            guard media.transportProtocol.contains("SAVP"), let crypto = media.attributes.first(CryptoAttribute.self),
                let keys = SRTPKeys(crypto)
            else { throw .unacceptable("the answer gives no key of ours") }
            feedbackKeys = keys
        }
        guard tracks.contains(where: { $0 != nil }) else { throw .unacceptable("the answer takes no track") }
    }

    private static func track(
        _ media: MediaDescription, _ kind: MediaKind, _ session: SessionDescription, _ trust: RouterTrust
    ) throws(AnnounceFailure) -> Track? {
        guard media.port != 0 else { return nil }
        guard let text = (media.connection ?? session.connection)?.address, let ip = IPAddress(text) else {
            throw .unacceptable("the answer names no address")
        }
        guard media.payloadTypes.contains(LegPlan.payloadType(of: kind)) else {
            throw .unacceptable("the answer takes another payload type")
        }
        let rtp = SocketAddress(ip, port: media.port)
        let rtcp = SocketAddress(ip, port: try controlPort(media))
        guard trust.admits(rtp), trust.admits(rtcp) else { throw .unacceptable("\(rtp) is not the router's to name") }
        let isNACKed = media.feedback(of: LegPlan.payloadType(of: kind)).contains("nack")
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

extension RouterAnswer.Track {
    /// RFC 8853 §5.3.2. What was not offered, or is said twice, does not count.
    fileprivate mutating func readLayers(of media: MediaDescription, offered: [LayerName]) {
        for stream in media.attributes.first(Simulcast.self)?.receive ?? [] {
            let named = stream.alternatives.compactMap { alternative in
                LayerName(rawValue: alternative.identifier).map { RouterAnswer.Layer(rid: $0, isPaused: alternative.isPaused) }
            }
            guard let layer = named.first, offered.contains(layer.rid), !layers.contains(where: { $0.rid == layer.rid }) else {
                continue
            }
            layers.append(layer)
        }
        let extensions = media.attributes.all(HeaderExtensionMap.self)
        takesMID = extensions.contains { $0.isOffered(HeaderExtensionMap.mid, RouterDescription.ExtensionID.mid) }
        takesRID = extensions.contains { $0.isOffered(HeaderExtensionMap.rtpStreamID, RouterDescription.ExtensionID.rid) }
    }
}

extension HeaderExtensionMap {
    /// An answer has the offer's identifier (RFC 8285 §6).
    fileprivate func isOffered(_ uri: String, _ identifier: UInt8) -> Bool {
        self.uri == uri && self.identifier == UInt16(identifier)
    }
}
