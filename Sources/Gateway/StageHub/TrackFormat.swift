/// What a track carries, as far as it is known; the router's SDP is written from it.
public enum TrackFormat: Sendable, Equatable {
    /// H.264 with the parameter sets of the stream itself, without start codes.
    case h264(sps: [UInt8], pps: [UInt8])
    /// H.264 as an offer described it, before any parameter set came: six hex digits of profile-level-id.
    case h264Offered(profileLevelID: String)
    /// Opus, always announced as `opus/48000/2` (RFC 7587); `isStereo` is what is really inside.
    case opus(isStereo: Bool)
}
