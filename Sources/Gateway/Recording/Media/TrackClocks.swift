import Wire

/// How the clocks of both tracks lie to each other and to the time of day, by readings of the publication's timeline. A value.
///
/// The recording's time is the video's RTP time, in ticks of 90 kHz. RTMP's audio shares it. WHIP's has a clock of its own: about
/// five readings a second say what both clocks show at one moment.
struct TrackClocks {
    /// What a track's clock showed at a moment.
    struct Reading {
        var time: MonotonicTime
        var timestamp: Int64
    }

    /// Stamps of both tracks are of one clock (RTMP).
    let isShared: Bool
    var video: Reading?
    var audio: Reading?

    init(isShared: Bool) { self.isShared = isShared }

    /// Audio's RTP time in the recording's; nil before it is known.
    func commonTime(ofAudio timestamp: Int64) -> Int64? {
        if isShared { return timestamp &* 15 / 8 }
        return audioShift.map { timestamp &* 15 / 8 &+ $0 }
    }

    /// What makes audio's RTP time, in ticks of 90 kHz, the video's.
    var audioShift: Int64? {
        guard let audio, let video = video ?? standIn else { return nil }
        return video.timestamp &+ (audio.time - video.time).ticks &- audio.timestamp &* 15 / 8
    }

    /// The civil time of a moment of the recording.
    /// - Parameter now: by both clocks.
    func wallTime(of time: Int64, now: (monotonic: MonotonicTime, wall: WallTime)) -> WallTime {
        guard let reading = video ?? standIn else { return now.wall }
        let lag = time &- reading.timestamp &- (now.monotonic - reading.time).ticks
        return now.wall + .ticks(max(-Self.longestLag, min(0, lag)))
    }

    /// The clock of a recording without pictures, or until they come.
    private var standIn: Reading? {
        if isShared { return audio.map { Reading(time: $0.time, timestamp: $0.timestamp &* 15 / 8) } }
        return Reading(time: .zero, timestamp: 0)
    }

    /// A segment begins at most two of its lengths before it is written.
    private static let longestLag: Int64 = 120 * 90_000
}

/// Times of a recording are ticks of 90 kHz, as the video's RTP time is.
extension Duration {
    static func ticks(_ count: Int64) -> Duration { .nanoseconds(count * 100_000 / 9) }

    /// Whole ticks. Split so that no product overflows: media times may be any number.
    var ticks: Int64 { nanoseconds / 100_000 * 9 + nanoseconds % 100_000 * 9 / 100_000 }
}
