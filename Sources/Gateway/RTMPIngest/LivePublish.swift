import EventLoop
import GatewayLogging
import Refusals
import StageHub
import Wire

/// The media of a live publish, and the timers that watch it.
///
/// A class, because every message asks for it: to copy a struct would be to count each of its references up and down.
final class LivePublish {
    let pipeline: RTMPPublishPipeline
    /// Ends the publish when no media has come for long: it looks at `lastMedia` when its time has come.
    let silence: TimerWatch
    /// Once a second.
    let tick: TimerWatch
    /// When the last message came: one store for each, where a timer would have to be set anew.
    var lastMedia: MonotonicTime
    private var networkTest = NetworkTest()

    init(pipeline: RTMPPublishPipeline, silence: TimerWatch, tick: TimerWatch, began: MonotonicTime) {
        (self.pipeline, self.silence, self.tick, lastMedia) = (pipeline, silence, tick, began)
    }

    func end(_ reason: SessionEnd) {
        silence.cancel()
        tick.cancel()
        pipeline.end(reason)
    }

    /// What the publish came to, for the log line about its end.
    func figures(because reason: SessionEnd) -> LogFields {
        let counters = pipeline.counters
        return [
            "reason": .string(reason.name), "video_frames": .integer(counters.videoFrames),
            "audio_frames": .integer(counters.audioFrames), "malformed": .integer(counters.malformed),
            "unconfigured": .integer(counters.unconfigured), "unsupported": .integer(counters.unsupported),
            "layers": .string(pipeline.publication.layersInWords), "other_tracks": .integer(counters.otherTracks),
        ]
    }

    func secondPassed() { networkTest.secondPassed(byteCount: byteCount) }

    /// Whether this was a network test. Asked of a publish that ended without a goodbye.
    var wasNetworkTest: Bool { networkTest.isLikely(byteCount: byteCount) }

    private var byteCount: Int {
        let counters = pipeline.publication.counters
        return counters.video.reduce(counters.audio.bytes.value) { $0 + $1.bytes.value }
    }
}

extension Publication {
    /// Best first, each with the encoder's number of it: `0: 1280x720, 300 frames; 1: 640x360, 300 frames`.
    fileprivate var layersInWords: String {
        layers.map { "\($0.rid): \($0.width)x\($0.height), \(counters[$0.track].frames.value) frames" }.joined(separator: "; ")
    }
}
