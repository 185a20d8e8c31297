import Wire

/// What stamps of RTP are in the encoder's time, and what that is in the time of day, by readings of the publication's timeline.
/// A value.
///
/// The encoder's time is the RTP time of the video's first layer, or of the first one since nobody knew how it lies to the layer
/// before. RTMP's audio shares it. WHIP's has a clock of its own: about five readings a second say what both clocks show at one
/// moment. Without pictures WHIP's sound is timed by our clock.
struct TrackClocks {
    /// What the encoder's time was at a moment.
    struct Reading {
        var time: MonotonicTime
        var encoderTime: EncoderTime
    }

    /// Stamps of both tracks are of one clock (RTMP).
    let isShared: Bool
    private(set) var video: Reading?
    /// The one before: a clock jumps, or begins anew, before what was timed by it is written.
    private var former: Reading?
    /// What audio's RTP time was at a moment.
    var audio: (time: MonotonicTime, timestamp: Int64)?
    /// What makes timestamps of the layer that is recorded now those of the first one.
    private var layerShift: Int64 = 0

    init(isShared: Bool) { self.isShared = isShared }

    /// What the video's time was at a moment.
    mutating func videoRead(_ reading: Reading) { (video, former) = (reading, video ?? former) }

    /// All times begin anew.
    mutating func restart() {
        former = video ?? standIn ?? former
        (video, audio, layerShift) = (nil, nil, 0)
    }

    /// - Parameter shift: what makes timestamps of the layer that follows the former one's; nil where nobody knows.
    mutating func layerBegan(shift: Int64?) {
        guard let shift else { return (video, former, layerShift) = (nil, video ?? former, 0) }
        layerShift &+= shift
    }

    /// - Parameter timestamp: RTP time of the layer that is recorded now.
    func encoderTime(ofVideo timestamp: Int64) -> EncoderTime { EncoderTime(ticks: timestamp &+ layerShift) }

    /// - Parameter timestamp: audio's RTP time.
    /// - Returns: nil before it is known.
    func encoderTime(ofAudio timestamp: Int64) -> EncoderTime? {
        if isShared { return EncoderTime(ticks: Self.ticks(ofAudio: timestamp)) }
        return audioShift.map { EncoderTime(ticks: Self.ticks(ofAudio: timestamp) &+ $0) }
    }

    /// What makes audio's RTP time, in ticks of 90 kHz, the encoder's.
    var audioShift: Int64? {
        guard let audio, let video = video ?? standIn else { return nil }
        return video.encoderTime.ticks &+ (audio.time - video.time).ticks &- Self.ticks(ofAudio: audio.timestamp)
    }

    /// The civil time of a moment of the recording, by the reading that has it nearest to now: never later than now, and never
    /// earlier than it was if one of the readings is of its clock.
    /// - Parameter now: by both clocks.
    func wallTime(of time: EncoderTime, now: (monotonic: MonotonicTime, wall: WallTime)) -> WallTime {
        let lags = [video, standIn, former].compactMap { $0 }.map { reading in
            (time - reading.encoderTime) &- (now.monotonic - reading.time).ticks
        }
        let nearest = lags.filter { $0 >= -Self.longestLag }.min { $0.magnitude < $1.magnitude }
        return now.wall + .ticks(min(0, nearest ?? 0))
    }

    /// The clock of a recording without pictures, or until they come.
    private var standIn: Reading? {
        if isShared {
            return audio.map { Reading(time: $0.time, encoderTime: EncoderTime(ticks: Self.ticks(ofAudio: $0.timestamp))) }
        }
        return Reading(time: .zero, encoderTime: EncoderTime(ticks: 0))
    }

    /// Of 90 kHz; audio's RTP time counts 48,000 a second.
    private static func ticks(ofAudio timestamp: Int64) -> Int64 { timestamp &* 15 / 8 }

    /// A segment begins at most two of its lengths before it is written.
    private static let longestLag: Int64 = 120 * 90_000
}
