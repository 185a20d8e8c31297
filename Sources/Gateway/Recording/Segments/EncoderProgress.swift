/// Where both tracks of one encoder are in the file, and what its times are there. A value.
struct EncoderProgress {
    /// Where the last picture begins.
    private(set) var lastVideo: FileTime?
    private(set) var lastAudioEnd: FileTime?
    /// Ticks from the encoder's times to the file's.
    private var shift: Int64 = 0
    private var frameDuration: Int64 = 3_000

    /// What the encoder calls `time` is `fileTime`, and nothing has come yet.
    mutating func begin(at time: EncoderTime, as fileTime: FileTime) {
        shift = fileTime.ticks &- time.ticks
        breakOff()
    }

    /// What comes next has nothing to do with what has come.
    mutating func breakOff() { (lastVideo, lastAudioEnd) = (nil, nil) }

    /// The encoder's times are higher by so much from now on, for the same moments.
    mutating func clockMoved(by ticks: Int64) { shift &-= ticks }

    func inFile(_ time: EncoderTime) -> FileTime { FileTime(ticks: time.ticks &+ shift) }
    func ofEncoder(_ time: FileTime) -> EncoderTime { EncoderTime(ticks: time.ticks &- shift) }

    mutating func pictureCame(at time: FileTime) {
        if let lastVideo, time > lastVideo { frameDuration = min(time - lastVideo, Self.longestFrame) }
        lastVideo = max(time, lastVideo ?? time)
    }

    mutating func soundCame(until end: FileTime) { lastAudioEnd = end }

    /// - Returns: false where that would be a step that no gap explains: a clock has jumped, and what came is of before.
    mutating func soundMoved(by ticks: Int64) -> Bool {
        guard let end = lastAudioEnd.map({ $0 + ticks }) else { return true }
        if isJump(to: end, from: end) { return false }
        lastAudioEnd = end
        return true
    }

    /// A step that no gap explains: both tracks are looked at, because one alone may pause.
    /// - Parameter last: of the track that `time` is of.
    func isJump(to time: FileTime, from last: FileTime?) -> Bool {
        guard let latest = lastVideo.map({ max($0, lastAudioEnd ?? $0) }) ?? lastAudioEnd else { return false }
        if time - latest > Self.longestGap { return true }
        return last.map { $0 - time > Self.longestStepBack } ?? (latest - time > Self.longestGap)
    }

    /// Whether all sound before a picture is there: it comes a little later than the pictures that it belongs to.
    func hasSound(before picture: FileTime) -> Bool {
        if let lastAudioEnd, lastAudioEnd >= picture { return true }
        return (lastVideo ?? picture) - picture >= Self.longestWaitForAudio
    }

    /// Where what has come ends.
    func end(after start: FileTime) -> FileTime {
        max(start, lastVideo.map { $0 + frameDuration } ?? start, lastAudioEnd ?? start)
    }

    static let longestGap: Int64 = 10 * 90_000
    private static let longestStepBack: Int64 = 45_000
    private static let longestFrame: Int64 = 90_000
    private static let longestWaitForAudio: Int64 = 45_000
}
