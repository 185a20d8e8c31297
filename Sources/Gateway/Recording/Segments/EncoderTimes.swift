/// Where both tracks of one encoder are, and what its times are in the file. A value; times are ticks of 90 kHz, and those of the
/// file but for where the encoder's are named.
struct EncoderTimes {
    /// Where the last picture begins.
    private(set) var lastVideo: Int64?
    private(set) var lastAudioEnd: Int64?
    /// From the encoder's times to the file's.
    private var shift: Int64 = 0
    private var frameDuration: Int64 = 3_000

    /// What the encoder calls `time` is `fileTime`, and nothing has come yet.
    mutating func begin(at time: Int64, as fileTime: Int64) {
        shift = fileTime &- time
        breakOff()
    }

    /// What comes next has nothing to do with what has come.
    mutating func breakOff() { (lastVideo, lastAudioEnd) = (nil, nil) }

    /// The encoder's times are higher by so much from now on, for the same moments.
    mutating func clockMoved(by ticks: Int64) { shift &-= ticks }

    func inFile(_ encoderTime: Int64) -> Int64 { encoderTime &+ shift }
    func ofEncoder(_ fileTime: Int64) -> Int64 { fileTime &- shift }

    mutating func pictureCame(at time: Int64) {
        if let lastVideo, time > lastVideo { frameDuration = min(time - lastVideo, Self.longestFrame) }
        lastVideo = max(time, lastVideo ?? time)
    }

    mutating func soundCame(until end: Int64) { lastAudioEnd = end }

    /// - Returns: false where that would be a step that no gap explains: a clock has jumped, and what came is of before.
    mutating func soundMoved(by ticks: Int64) -> Bool {
        guard let end = lastAudioEnd.map({ $0 &+ ticks }) else { return true }
        if isJump(to: end, from: end) { return false }
        lastAudioEnd = end
        return true
    }

    /// A step that no gap explains: both tracks are looked at, because one alone may pause.
    /// - Parameter last: of the track that `time` is of.
    func isJump(to time: Int64, from last: Int64?) -> Bool {
        let latest = max(lastVideo ?? .min, lastAudioEnd ?? .min)
        guard latest > .min else { return false }
        if time - latest > Self.longestGap { return true }
        return last.map { $0 - time > Self.longestStepBack } ?? (latest - time > Self.longestGap)
    }

    /// Whether all sound before a picture is there: it comes a little later than the pictures that it belongs to.
    func hasSound(before picture: Int64) -> Bool {
        if let lastAudioEnd, lastAudioEnd >= picture { return true }
        return (lastVideo ?? picture) - picture >= Self.longestWaitForAudio
    }

    /// Where what has come ends.
    func end(after start: Int64) -> Int64 { max(start, lastVideo.map { $0 + frameDuration } ?? start, lastAudioEnd ?? start) }

    static let longestGap: Int64 = 10 * 90_000
    private static let longestStepBack: Int64 = 45_000
    private static let longestFrame: Int64 = 90_000
    private static let longestWaitForAudio: Int64 = 45_000
    /// Twelve years: no product of such a time overflows, and no honest encoder gets there.
    static let largest: UInt64 = 1 << 45
}
