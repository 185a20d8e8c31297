public import SRTP
public import StageHub
public import Wire

/// Where one track, or one layer of it, goes, and as what.
public struct TrackPlan: Sendable, Equatable {
    /// Of video one layer, if `isLayer` says so.
    public var track: TrackID
    /// This layer goes out; without, the best one of its track that lives.
    public var isLayer = false
    /// The layer's name toward the router, where it has one.
    public var rid: LayerName?
    /// Ours, of this announce alone.
    public var ssrc: UInt32
    public var payloadType: UInt8
    /// Where its packets go.
    public var rtp: SocketAddress
    /// Equal to `rtp` with rtcp-mux.
    public var rtcp: SocketAddress
    /// Whether the router keeps `nack`: then packets are kept for retransmission.
    public var isNACKed = false
    /// What every packet carries behind its fixed header (RFC 8285), whole words; empty without.
    public var headerExtension: [UInt8] = []
    /// The router wants none of it until it resumes it.
    public var isPaused = false

    public init(track: TrackID, ssrc: UInt32, payloadType: UInt8, rtp: SocketAddress, rtcp: SocketAddress) {
        (self.track, self.ssrc, self.payloadType) = (track, ssrc, payloadType)
        (self.rtp, self.rtcp) = (rtp, rtcp)
    }
}

/// One announce of one participant to one router: fresh SSRCs and keys for each.
public struct LegPlan: Sendable, Equatable {
    /// RTCP's canonical name, the same for all tracks: the participant.
    public var cname: String
    /// One for each SSRC.
    public var tracks: [TrackPlan]
    /// The router's name in the configuration, for metrics.
    public var router = ""
    /// Our SRTP key, fresh for this announce; nil for plain RTP.
    public var keys: SRTPKeys?
    /// The router's, for its feedback; without it feedback is plain RTCP (Janus), and bounded like all of it.
    public var feedbackKeys: SRTPKeys?
    /// Keyframe requests about any layer are about all of them: Janus knows one SSRC of a mountpoint's video.
    public var asksForAllLayers = false
    /// The router takes one video however many layers there are: another one changes nothing for it.
    public var isLayerless = false

    public init(cname: String, tracks: [TrackPlan]) { (self.cname, self.tracks) = (cname, tracks) }

    /// Payload types of all our packets.
    public static func payloadType(of kind: MediaKind) -> UInt8 { kind == .video ? 96 : 111 }
}
