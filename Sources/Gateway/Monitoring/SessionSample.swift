import JSON
public import MediaContract
public import StageHub
import Wire

/// What one second of a live publish was like.
public struct SessionSample: Sendable, Equatable {
    /// One layer of video or the audio.
    public struct Track: Sendable, Equatable {
        public var bitsPerSecond = 0
        public var framesPerSecond = 0.0
    }

    /// By the layer's place in its publication, as many as `PublishCounters` tells apart.
    public var video: [Track] = []
    /// Those whose size is known, best first, by the names that they had at the end of this second.
    public var layers: [VideoLayer] = []
    public var audio = Track()
    /// Packets of this second that never came, of those sent.
    public var lossRatio = 0.0
    public var roundTrip: Duration?
    /// What the encoder told of the last minute; nil where it tells nothing.
    public var encoder: EncoderFigures?

    public var videoBitsPerSecond: Int { video.reduce(0) { $0 + $1.bitsPerSecond } }
    public var bitsPerSecond: Int { videoBitsPerSecond + audio.bitsPerSecond }
    /// Of the liveliest layer.
    public var framesPerSecond: Double { video.map(\.framesPerSecond).max() ?? 0 }
    /// That of the best layer that is not paused.
    public var picture: (width: Int, height: Int)? {
        (layers.first(where: \.isActive) ?? layers.first).map { ($0.width, $0.height) }
    }

    /// What a layer brought.
    subscript(_ layer: VideoLayer) -> Track {
        let place = Int(layer.track.layer)
        return video.indices.contains(place) ? video[place] : Track()
    }

    public init() {}
}

/// A publish's counters at one moment; two of them make a sample.
struct CounterReading: Equatable {
    struct Track: Equatable {
        var bytes = 0
        var packets = 0
        var frames = 0

        init() {}

        init(_ counters: TrackCounters) {
            (bytes, packets, frames) = (counters.bytes.value, counters.packets.value, counters.frames.value)
        }

        mutating func add(_ other: Track) {
            bytes += other.bytes
            packets += other.packets
            frames += other.frames
        }
    }

    var video: [Track]
    var audio: Track
    var lost: Int
    var reordered: Int
    /// Since the publish began.
    var encoder: EncoderFigures

    init(_ record: SessionRecord) {
        let counters = record.counters
        encoder = record.encoder
        (video, audio) = (counters.video.map(Track.init), Track(counters.audio))
        (lost, reordered) = (counters.lost.value, counters.reordered.value)
    }

    var packets: Int { video.reduce(audio.packets) { $0 + $1.packets } }

    /// The time since an earlier reading as a sample.
    func sample(since earlier: CounterReading, over elapsed: Duration, of record: SessionRecord) -> SessionSample {
        let seconds = max(elapsed.inSeconds, 0.001)
        func track(_ now: Track, _ then: Track) -> SessionSample.Track {
            SessionSample.Track(
                bitsPerSecond: Int(Double((now.bytes - then.bytes) * 8) / seconds),
                framesPerSecond: Double(now.frames - then.frames) / seconds)
        }
        var sample = SessionSample()
        sample.video = zip(video, earlier.video).map { track($0, $1) }
        sample.layers = record.layers
        sample.audio = track(audio, earlier.audio)
        let (lost, came) = (lost - earlier.lost, packets - earlier.packets)
        sample.lossRatio = lost > 0 ? Double(lost) / Double(lost + max(0, came)) : 0
        sample.roundTrip = record.counters.roundTrip
        return sample
    }
}

extension SessionSample {
    /// Bits and frames a second, loss as a ratio, round trip in milliseconds where it is known.
    var json: JSONValue {
        var object: JSONObject = [
            "videoBitsPerSecond": .integer(Int64(videoBitsPerSecond)),
            "audioBitsPerSecond": .integer(Int64(audio.bitsPerSecond)),
            "framesPerSecond": .number(framesPerSecond.rounded(toPlaces: 1)),
            "lossRatio": .number(lossRatio.rounded(toPlaces: 4)),
        ]
        if let picture { object["picture"] = .string("\(picture.width)x\(picture.height)") }
        if let encoder = encoder?.json { object["encoder"] = encoder }
        if let roundTrip { object["roundTripMilliseconds"] = .number((roundTrip.inSeconds * 1_000).rounded(toPlaces: 1)) }
        return .object(object)
    }
}
