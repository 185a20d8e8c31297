/// Decides when a publish has really started: a decodable IDR was forwarded (RTMP: audio too), and 1 s of media followed.
///
/// A connection that never gets there leaves no publish event, as the SDKs' bandwidth test expects.
public struct PublishGate: Sendable {
    /// PUBLISH_STARTED may be recorded: this publish is real.
    public private(set) var isOpen = false

    private let needsAudio: Bool
    private var hasAudio = false
    private var startTime: Int64?
    private var latestTime: Int64 = 0

    /// Ticks of 90 kHz of media that must follow.
    static let followingTicks: Int64 = 90_000

    /// - Parameter needsAudio: true for RTMP; a WHIP publish may be video alone.
    public init(needsAudio: Bool) { self.needsAudio = needsAudio }

    /// A picture was forwarded.
    /// - Parameters:
    ///   - isDecodableIDR: an IDR picture whose parameter sets are known.
    ///   - mediaTime: unwrapped, 90 kHz.
    /// - Returns: true once, when the publish has started.
    public mutating func videoForwarded(isDecodableIDR: Bool, mediaTime: Int64) -> Bool {
        // A jump back of the media time starts the count anew.
        if let start = startTime, mediaTime < start { startTime = isDecodableIDR ? mediaTime : nil }
        if startTime == nil, isDecodableIDR { startTime = mediaTime }
        latestTime = mediaTime
        return openIfReady()
    }

    /// An audio packet was forwarded.
    /// - Returns: true once, when the publish has started.
    public mutating func audioForwarded() -> Bool {
        hasAudio = true
        return openIfReady()
    }

    private mutating func openIfReady() -> Bool {
        guard !isOpen, hasAudio || !needsAudio, let startTime, latestTime - startTime >= Self.followingTicks else { return false }
        isOpen = true
        return true
    }
}
