public import Wire

/// When a piece of media belongs, and when it came.
@frozen
public struct MediaMoment: Sendable, BitwiseCopyable {
    /// Unwrapped ticks of the track's RTP clock: 90,000 a second for video, 48,000 for audio.
    public var mediaTime: Int64
    public var arrival: MonotonicTime

    @inlinable
    public init(mediaTime: Int64, arrival: MonotonicTime) { (self.mediaTime, self.arrival) = (mediaTime, arrival) }
}
