/// Where frames of audio stand in the file: one after the other, as long as their stamps say about the same. A value.
///
/// Stamps of RTMP are whole milliseconds, and clocks of a browser's audio and video drift apart: what is within the dead band
/// changes nothing, what grows beyond it is made up for by durations a thousandth longer or shorter, which nobody hears. Missing
/// frames are a gap of their length, but not stamps that are late by themselves, as those after them tell; frames for which there
/// is no time any more are left out.
struct AudioClock: Equatable {
    /// Samples a second, of the track and of its stamps.
    let timescale: Int64
    /// Where the last frame ends in the file, in samples.
    private(set) var next: Int64?
    /// Where the frame before ends by the sound's own clock.
    private var ownEnd: Int64 = 0
    private var isSlewing = false
    /// Until sound and stamps agree again: what is only almost a gap late would be so for a minute and a half.
    private var isLeavingOut = false

    init(timescale: Int64) { self.timescale = timescale }

    func samples(in ticks: Int64) -> Int64 { ticks &* timescale / 90_000 }
    /// Of 90 kHz.
    func ticks(in samples: Int64) -> Int64 { samples &* 90_000 / timescale }

    /// A moment of the file, in samples.
    func samples(at time: FileTime) -> Int64 { samples(in: time.ticks) }
    /// Where the last frame ends, rounded up to whole ticks.
    var end: FileTime? { next.map { FileTime(ticks: ($0 * 90_000 + timescale - 1) / timescale) } }

    /// - Parameter later: the frames after it that are there already.
    /// - Returns: its decoding time; nil for a frame that is left out.
    mutating func place(_ sample: PendingMedia.Audio, followedBy later: ArraySlice<PendingMedia.Audio>) -> Int64? {
        let (stamp, duration) = (sample.timestamp, sample.frame.duration)
        let leastGap = followsLoss(sample.frame) ? min(gap, duration / 2 + 1) : gap
        guard let next else { return put(at: stamp, lasting: duration) }
        let error = stamp &- next
        let lateness = error < leastGap ? error : min(error, leastLateness(of: later, after: next &+ duration))
        if lateness >= leastGap {
            (isSlewing, isLeavingOut) = (false, false)
            return put(at: next &+ lateness, lasting: duration)
        }
        isLeavingOut = error <= (isLeavingOut ? -deadBand : -gap)
        if isLeavingOut { return nil }
        return put(at: next, lasting: duration &+ correction(of: error, duration))
    }

    private mutating func put(at time: Int64, lasting duration: Int64) -> Int64 {
        next = time &+ duration
        return time
    }

    /// Whether frames are missing before this one. Its own clock alone says so: stamps also move when the clocks of both tracks
    /// are compared anew. To be asked once of each frame: it notes where that ends.
    private mutating func followsLoss(_ frame: AudioFrame) -> Bool {
        defer { ownEnd = frame.ownTimestamp &+ frame.duration }
        return frame.ownTimestamp &- ownEnd >= frame.duration * 3 / 4
    }

    /// What a frame lasts longer, so that stamps that differ by so much are met in time. Begins to slew, or ends it.
    private mutating func correction(of error: Int64, _ duration: Int64) -> Int64 {
        if error.magnitude > UInt64(deadBand) {
            isSlewing = true
        } else if error.magnitude <= UInt64(settled) {
            isSlewing = false
        }
        return isSlewing ? error.signum() * max(1, duration / 1_000) : 0
    }

    /// What is missing makes all that follows late. GStreamer's muxer stamps those frames late that reach it late, one or some.
    /// - Parameter time: where the first of them would begin.
    private func leastLateness(of samples: ArraySlice<PendingMedia.Audio>, after time: Int64) -> Int64 {
        var (least, next) = (Int64.max, time)
        for sample in samples {
            guard next &- time < outlook else { break }
            least = min(least, sample.timestamp &- next)
            next &+= sample.frame.duration
        }
        return least
    }

    /// A quarter of what lips and voice may differ by.
    private var deadBand: Int64 { timescale / 100 }
    private var settled: Int64 { timescale / 1_000 }
    private var gap: Int64 { timescale / 10 }
    private var outlook: Int64 { timescale / 5 }
}
