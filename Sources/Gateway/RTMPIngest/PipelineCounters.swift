/// What a publish lost or passed over, for its log line and the worker's metrics.
public struct PipelineCounters: Equatable, Sendable {
    /// Media messages whose head or body makes no sense.
    public var malformed = 0
    /// Frames that came before their sequence header.
    public var unconfigured = 0
    /// Messages of codecs that are not taken.
    public var unsupported = 0
    /// Tracks beside track 0 in multitrack messages.
    public var otherTracks = 0
    public var videoFrames = 0
    public var audioFrames = 0

    public init() {}
}
