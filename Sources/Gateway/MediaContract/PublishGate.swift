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
    /// By layer: each may have a clock of its own.
    private var pictures = ByLayer<PictureStretch>(repeating: PictureStretch())
    /// Audio since the last packet of video.
    private var audioAlone: AudioStretch?

    public init(needsBothTracks: Bool) { self.needsBothTracks = needsBothTracks }

    /// Video was forwarded.
    /// - Parameters:
    ///   - isDecodableIDR: an IDR picture whose parameter sets are known.
    ///   - layer: by its place. What has a place beyond `ByLayer` is not looked at.
    ///   - mediaTime: unwrapped, 90 kHz, by the layer's clock.
    /// - Returns: why the publish has started, once.
    public mutating func videoForwarded(isDecodableIDR: Bool, layer: UInt8 = 0, mediaTime: Int64) -> Start? {
        audioAlone = nil
        guard Int(layer) < pictures.count else { return nil }
        pictures[Int(layer)].reach(mediaTime, isDecodableIDR: isDecodableIDR)
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
        (hasAudio || !needsBothTracks) && pictures.indices.contains { pictures[$0].isLongEnough }
    }

    private var isAudioAlone: Bool { !needsBothTracks && audioAlone?.isLongEnough == true }
}

/// One layer's pictures from a decodable IDR on, in ticks of 90 kHz.
private struct PictureStretch {
    private var start: Int64?
    private var latest: Int64 = 0

    var isLongEnough: Bool { start.map { latest - $0 >= Self.enough } ?? false }

    /// A jump back of a second starts it anew; a picture that the IDR overtook does not.
    mutating func reach(_ time: Int64, isDecodableIDR: Bool) {
        if let start, start - time >= Self.enough { self.start = nil }
        if start == nil, isDecodableIDR { start = time }
        latest = time
    }

    private static let enough: Int64 = 90_000
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
