public import RTP

/// What a track carries.
public enum MediaKind: UInt8, Sendable, Hashable { case video, audio }

/// A track of a publication: its kind, and for video which of its encodings.
///
/// `layer` is the encoding's place among those that the encoder sends, and 0 where it sends one. It tells whose a packet is and
/// never changes; how good a layer is, `VideoLayer` tells.
public struct TrackID: Hashable, Sendable {
    public var kind: MediaKind
    public var layer: UInt8

    @inlinable public init(_ kind: MediaKind, layer: UInt8 = 0) { (self.kind, self.layer) = (kind, layer) }
    public static let video = TrackID(.video)
    public static let audio = TrackID(.audio)
}

extension TrackID {
    /// RTP ticks a second.
    @inlinable public var clockRate: Int64 { kind == .video ? ClockRate.video : ClockRate.audio }

    /// Unwrapped RTP time in nanoseconds.
    public func nanoseconds(ofTimestamp timestamp: Int64) -> Int64 { ClockRate.nanoseconds(ofTicks: timestamp, at: clockRate) }

    /// The nearest RTP time.
    public func timestamp(ofNanoseconds nanoseconds: Int64) -> Int64 {
        ClockRate.ticks(ofNanoseconds: nanoseconds, at: clockRate)
    }
}

/// What a track carries, as far as it is known; the router's SDP is written from it.
public enum TrackFormat: Sendable, Equatable {
    /// H.264 with the parameter sets of the stream itself, without start codes.
    case h264(sps: [UInt8], pps: [UInt8])
    /// H.264 as an offer described it, before any parameter set came: six hex digits of profile-level-id.
    case h264Offered(profileLevelID: String)
    /// Opus, always announced as `opus/48000/2` (RFC 7587); `isStereo` is what is really inside.
    case opus(isStereo: Bool)
}
