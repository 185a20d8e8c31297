import MediaContract
public import Refusals
public import StageHub
public import Transcoding
public import Wire

/// One RTMP publisher's media on its way into the hub. Confined to its worker, and without any I/O of its own.
///
/// Messages come in as the session shows them; access units and Opus packets go to the publication while they still lie in the
/// connection's buffer. What the inspector refuses ends the publish.
public final class RTMPPublishPipeline {
    public let publication: Publication
    public var counters: PipelineCounters { counted }
    /// Called whenever a frame with advancing media time has come: proof that this publisher is alive (docs/design.md 7.3).
    var onProgress: ((MonotonicTime) -> Void)?
    /// Called once, when what the contract needs has been forwarded for long enough to call this a publish.
    var onStart: (() -> Void)?

    private let video: VideoTrackFeed
    private let audio: AudioTrackFeed
    private let inspector: (any MediaInspector)?
    private var furthestVideo: Duration?
    private var furthestAudio: Duration?
    private var gate: PublishGate
    private var hasStarted = false
    private var counted = PipelineCounters()

    /// - Parameters:
    ///   - scratch: of the worker.
    ///   - now: the moment, asked when the transcoder gives packets back.
    public init(
        publication: Publication, transcoder: AudioTranscoder, inspector: (any MediaInspector)? = nil,
        scratch: PacketScratch = PacketScratch(), now: @escaping () -> MonotonicTime
    ) {
        (self.publication, self.inspector) = (publication, inspector)
        gate = PublishGate(needsBothTracks: inspector?.needsBothTracks ?? true)
        video = VideoTrackFeed(publication: publication, inspector: inspector, scratch: scratch)
        audio = AudioTrackFeed(publication: publication, inspector: inspector, transcoder: transcoder, now: now)
    }

    /// - Parameter timestamp: unwrapped milliseconds.
    /// - Returns: what ends the publish.
    public func receiveVideo(_ message: UnsafeRawBufferPointer, timestamp: Int64, arrival: MonotonicTime) -> Refusal? {
        // Counted beside the object: an access to it that lasts as long as the call would be checked.
        var counters = counted
        let refusal = unsafe video.receive(message, timestamp: timestamp, arrival: arrival, &counters)
        let isFrame = counters.videoFrames > counted.videoFrames
        counted = counters
        publication.counters[.video].count(byteCount: message.count, endsFrame: isFrame)
        guard isFrame, let time = video.lastMediaTime else { return refusal }
        if !hasStarted {
            let ticks = time.timestamp(for: .video)
            startIf(gate.videoForwarded(isDecodableIDR: video.lastWasKeyframe, mediaTime: ticks) != nil)
        }
        if furthestVideo.map({ time > $0 }) ?? true {
            furthestVideo = time
            onProgress?(arrival)
        }
        return refusal
    }

    /// - Parameter timestamp: unwrapped milliseconds.
    /// - Returns: what ends the publish.
    public func receiveAudio(_ message: UnsafeRawBufferPointer, timestamp: Int64, arrival: MonotonicTime) -> Refusal? {
        var counters = counted
        let refusal = unsafe audio.receive(message, timestamp: timestamp, arrival: arrival, &counters)
        let isFrame = counters.audioFrames > counted.audioFrames
        counted = counters
        publication.counters[.audio].count(byteCount: message.count, endsFrame: isFrame)
        guard isFrame, let time = audio.lastMediaTime else { return refusal }
        if !hasStarted { startIf(gate.audioForwarded(mediaTime: time.timestamp(for: .audio)) != nil) }
        if furthestAudio.map({ time > $0 }) ?? true {
            furthestAudio = time
            onProgress?(arrival)
        }
        return refusal
    }

    private func startIf(_ isStart: Bool) {
        guard isStart else { return }
        hasStarted = true
        onStart?()
    }

    /// To be called about once a second.
    /// - Returns: what ends the publish.
    public func timePassed(_ now: MonotonicTime) -> Refusal? {
        guard let inspector else { return nil }
        let refusal = inspector.timePassed(now)
        // It takes up new rules now.
        gate.needsBothTracks = inspector.needsBothTracks
        return refusal
    }

    /// Ends the publication; nothing reaches its sinks after this.
    public func end(_ reason: SessionEnd) {
        audio.close()
        inspector?.ended()
        (onProgress, onStart) = (nil, nil)
        publication.end(reason)
    }
}

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
