import FLV
import MediaContract
import Refusals
import StageHub
import Transcoding
import Wire

/// One RTMP publisher's media on its way into the hub. Confined to its worker, and without any I/O of its own.
///
/// Messages come in as the session shows them; access units and Opus packets go to the publication while they still lie in the
/// connection's buffer. What the inspector refuses ends the publish.
final class RTMPPublishPipeline {
    let publication: Publication
    private(set) var counters = PipelineCounters()
    /// Called whenever a frame with advancing media time has come: proof that this publisher is alive (docs/design.md 7.3).
    var onProgress: ((MonotonicTime) -> Void)?
    /// Called once, when what the contract needs has been forwarded for long enough to call this a publish.
    var onStart: (() -> Void)?
    /// Called with a sentence when the tracks that are not forwarded have changed, at most every ten seconds.
    var onPassedOver: ((String) -> Void)?
    /// Called when media has come late for a while, and when it comes twice as late.
    var onDelay: ((Duration) -> Void)?

    private let video: VideoTracks
    private let audio: AudioTracks
    private let inspector: (any MediaInspector)?
    private var furthestVideo: Duration?
    private var furthestAudio: Duration?
    private var gate: PublishGate
    /// Of which something came that cannot be read.
    private var unreadable: Set<MediaKind> = []
    private var metadata: StreamMetadata?
    private var passedOver = PassedOverTracks()
    private var toldPassedOver: MonotonicTime?
    private var delay = MediaDelay()

    /// - Parameters:
    ///   - scratch: of the worker.
    ///   - now: the moment, asked when the transcoder gives packets back.
    init(
        publication: Publication, transcoder: AudioTranscoder, inspector: (any MediaInspector)? = nil,
        scratch: PacketScratch = PacketScratch(), now: @escaping () -> MonotonicTime
    ) {
        (self.publication, self.inspector) = (publication, inspector)
        gate = PublishGate(needsBothTracks: inspector?.needsBothTracks ?? true)
        video = VideoTracks(publication: publication, inspector: inspector, scratch: scratch)
        audio = AudioTracks(publication: publication, inspector: inspector, transcoder: transcoder, now: now)
    }

    /// Takes one message of video or audio.
    /// - Parameter timestamp: unwrapped milliseconds.
    /// - Returns: what ends the publish.
    func receive(
        _ payload: UnsafeRawBufferPointer, of kind: MediaKind, timestamp: Int64, arrival: MonotonicTime
    ) -> Refusal? {
        var message = unsafe MediaMessage(payload: payload, timestamp: timestamp, arrival: arrival, counters: counters)
        let (isVideo, before) = (kind == .video, counters)
        let refusal = isVideo ? video.receive(&message) : audio.receive(&message)
        counters = message.counters
        if counters.unreadable > before.unreadable { unreadable.insert(kind) }
        let time = isVideo ? video.lastMediaTime : audio.lastMediaTime
        guard counters.frames > before.frames, let time else { return refusal }
        if !gate.isOpen, opensGate(kind, at: time) { onStart?() }
        guard (isVideo ? furthestVideo : furthestAudio).map({ time > $0 }) ?? true else { return refusal }
        if isVideo { furthestVideo = time } else { furthestAudio = time }
        onProgress?(arrival)
        return refusal
    }

    /// Takes one data message; what it announces of tracks is for words.
    func receiveData(_ message: UnsafeRawBufferPointer) {
        if let announced = unsafe StreamMetadata(parsing: message.bytes) { metadata = announced }
    }

    private func opensGate(_ kind: MediaKind, at time: Duration) -> Bool {
        switch kind {
        case .video: gate.videoForwarded(isDecodableIDR: video.lastWasKeyframe, mediaTime: time.timestamp(for: .video)) != nil
        case .audio: gate.audioForwarded(mediaTime: time.timestamp(for: .audio)) != nil
        }
    }

    /// To be called about once a second.
    /// - Returns: what ends the publish.
    func timePassed(_ now: MonotonicTime) -> Refusal? {
        lookForDelay(at: now)
        let refusal = video.secondPassed(at: now)
        if toldPassedOver.map({ now - $0 >= Self.passedOverInterval }) ?? true { tellPassedOver(at: now) }
        guard refusal == nil, let inspector else { return refusal }
        if unreadable.contains(.video) { inspector.unreadableVideo(arrival: now) }
        if unreadable.contains(.audio) { inspector.unreadableAudio(arrival: now) }
        let finding = inspector.timePassed(now)
        // It takes up new rules now.
        gate.needsBothTracks = inspector.needsBothTracks
        return finding
    }

    /// A way that is too narrow shows in nothing else: what does not fit waits at the encoder, and nothing is lost.
    private func lookForDelay(at now: MonotonicTime) {
        guard let due = publication.timeline.timestamp(of: .video, at: now) else { return }
        let newest = max(furthestVideo ?? .zero, furthestAudio ?? .zero)
        let dueTime = Duration.nanoseconds(TrackID.video.nanoseconds(ofTimestamp: due))
        if let late = delay.look(newest, due: dueTime, at: now) { onDelay?(late) }
    }

    private func tellPassedOver(at now: MonotonicTime?) {
        var tracks = PassedOverTracks()
        video.note(in: &tracks)
        audio.note(in: &tracks)
        guard tracks != passedOver else { return }
        (passedOver, toldPassedOver) = (tracks, now)
        if !tracks.isEmpty { onPassedOver?(tracks.sentence(metadata)) }
    }

    /// Ends the publication; nothing reaches its sinks after this.
    func end(_ reason: SessionEnd) {
        audio.close()
        tellPassedOver(at: nil)
        inspector?.ended()
        (onProgress, onStart, onPassedOver, onDelay) = (nil, nil, nil, nil)
        publication.end(reason)
    }

    /// Tracks may come, go and change places all the time.
    private static let passedOverInterval = Duration.seconds(10)
}

/// What a publish lost or passed over, for its log line and the worker's metrics.
struct PipelineCounters: Equatable, Sendable {
    /// Media messages whose head or body makes no sense.
    var malformed = 0
    /// Frames that came before their sequence header.
    var unconfigured = 0
    /// Messages of codecs that are not taken.
    var unsupported = 0
    /// Messages' tracks that have no place among the layers, and further tracks of audio.
    var otherTracks = 0
    /// Forwarded.
    var videoFrames = 0
    var audioFrames = 0

    var frames: Int { videoFrames + audioFrames }
    /// Messages of which nothing, or not all, can be read.
    var unreadable: Int { malformed + unconfigured }
}
