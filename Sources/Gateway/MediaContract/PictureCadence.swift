import H264
import Wire

/// Counts pictures and the time between IDR pictures, on media time.
struct PictureCadence {
    /// Media time of the current picture.
    private(set) var pictureTime: Int64?
    private(set) var lastIDRTime: Int64?
    /// Seconds between the last two IDR pictures, or for which none has come where that is long; nil before either shows.
    private(set) var keyframeInterval: Double?
    /// Media time since which no IDR picture has come.
    private var groupTime: Int64 = 0
    /// Pictures a second over the last full window.
    private(set) var frameRate: Double?
    /// Between pictures that came without a gap.
    private var windowTime: Int64 = 0
    private var windowPictureCount = 0

    static let ticksPerSecond: Int64 = 90_000
    /// Long enough for rates of a few pictures a second to settle.
    static let window = 3 * ticksPerSecond
    /// Media time that steps by more is a jump or a gap: measuring starts anew.
    static let maximumStep = 3 * ticksPerSecond
    /// Longer than the intervals that encoders have by default, which are told to the tenth of a second when they end.
    static let longGroup = 15 * ticksPerSecond

    /// A picture began.
    /// - Parameter isBehindGap: packets were lost on the way, or are late, which may have been pictures.
    /// - Returns: whether a frame rate or a keyframe interval has just been measured.
    mutating func pictureBegan(at time: Int64, isIDR: Bool, isBehindGap: Bool) -> Bool {
        defer { pictureTime = time }
        guard let last = pictureTime, time >= last, time - last <= Self.maximumStep else {
            (windowTime, windowPictureCount, groupTime, lastIDRTime) = (0, 0, time, isIDR ? time : nil)
            return false
        }
        var hasMeasured = false
        if isIDR {
            if let lastIDRTime, time > lastIDRTime {
                keyframeInterval = Double(time - lastIDRTime) / Double(Self.ticksPerSecond)
                hasMeasured = true
            }
            (groupTime, lastIDRTime) = (time, time)
        }
        guard !isBehindGap else { return hasMeasured }
        windowTime += time - last
        windowPictureCount += 1
        guard windowTime >= Self.window else { return hasMeasured }
        frameRate = Double(windowPictureCount) * Double(Self.ticksPerSecond) / Double(windowTime)
        (windowTime, windowPictureCount) = (0, 0)
        if time - groupTime >= Self.longGroup { keyframeInterval = Double(time - groupTime) / Double(Self.ticksPerSecond) }
        return true
    }
}
