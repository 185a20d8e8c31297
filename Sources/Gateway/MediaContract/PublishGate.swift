/// Decides when a publish has really started: a second of media followed a decodable IDR, or audio alone has flowed for a second.
///
/// RTMP needs both tracks, unless the stage's contract lets one be missing. A connection that never gets there leaves no publish
/// event, as the SDKs' bandwidth test expects.
public struct PublishGate: Sendable {
    /// What made the publish real.
    public enum Start: Sendable, Equatable {
        case pictures
        /// No video came in all that time: it is muted, or was never begun.
        case audioAlone
    }

    /// PUBLISH_STARTED may be recorded: this publish is real.
    public private(set) var isOpen = false
    /// Neither video nor audio alone is a publish.
    public var needsBothTracks: Bool

    private var hasAudio = false
    /// Of the decodable IDR that the count began with.
    private var startTime: Int64?
    private var latestTime: Int64 = 0
    /// Audio since the last packet of video.
    private var audioAlone: AudioStretch?

    /// Ticks of 90 kHz of media that must follow.
    static let followingTicks: Int64 = 90_000

    public init(needsBothTracks: Bool) { self.needsBothTracks = needsBothTracks }

    /// Video was forwarded.
    /// - Parameters:
    ///   - isDecodableIDR: an IDR picture whose parameter sets are known.
    ///   - mediaTime: unwrapped, 90 kHz.
    /// - Returns: why the publish has started, once.
    public mutating func videoForwarded(isDecodableIDR: Bool, mediaTime: Int64) -> Start? {
        audioAlone = nil
        // A jump back of the media time starts the count anew.
        if let start = startTime, mediaTime < start { startTime = isDecodableIDR ? mediaTime : nil }
        if startTime == nil, isDecodableIDR { startTime = mediaTime }
        latestTime = mediaTime
        return openIfReady()
    }

    /// An audio packet was forwarded.
    /// - Parameter mediaTime: unwrapped, 48 kHz.
    /// - Returns: why the publish has started, once.
    public mutating func audioForwarded(mediaTime: Int64) -> Start? {
        hasAudio = true
        var stretch = audioAlone ?? AudioStretch(from: mediaTime)
        stretch.reach(mediaTime)
        audioAlone = stretch
        return openIfReady()
    }

    private mutating func openIfReady() -> Start? {
        guard !isOpen, let start = hasPictures ? Start.pictures : isAudioAlone ? .audioAlone : nil else { return nil }
        isOpen = true
        return start
    }

    private var hasPictures: Bool {
        guard hasAudio || !needsBothTracks, let startTime else { return false }
        return latestTime - startTime >= Self.followingTicks
    }

    private var isAudioAlone: Bool { !needsBothTracks && audioAlone?.isLongEnough == true }
}

/// Audio that goes on without a pause, in ticks of 48 kHz. An encoder that is silent by DTX sends a packet every 400 ms.
private struct AudioStretch {
    private var start: Int64
    private var latest: Int64

    init(from time: Int64) { (start, latest) = (time, time) }

    var isLongEnough: Bool { latest - start >= Self.enough }

    /// A pause or a jump of a second starts it anew; packets that were overtaken do not.
    mutating func reach(_ time: Int64) {
        guard abs(time - latest) < Self.enough else { return self = AudioStretch(from: time) }
        latest = max(latest, time)
    }

    private static let enough: Int64 = 48_000
}
