import H264
import Wire

/// Counts pictures and the time between IDR pictures, on media time.
struct PictureCadence {
    /// Media time of the current picture.
    private(set) var pictureTime: Int64?
    private(set) var lastIDRTime: Int64?
    /// Seconds between the last two IDR pictures; nil before the second one.
    private(set) var keyframeInterval: Double?
    /// Pictures a second over the last full window.
    private(set) var frameRate: Double?
    private var windowStart: Int64 = 0
    private var windowPictureCount = 0

    static let ticksPerSecond: Int64 = 90_000
    /// Long enough for rates of a few pictures a second to settle.
    static let window = 3 * ticksPerSecond
    /// Media time that steps by more is a jump or a gap: measuring starts anew.
    static let maximumStep = 3 * ticksPerSecond

    /// A picture began. Answers whether a frame rate or a keyframe interval has just been measured.
    mutating func pictureBegan(at time: Int64, isIDR: Bool) -> Bool {
        defer { pictureTime = time }
        guard let last = pictureTime, time >= last, time - last <= Self.maximumStep else {
            (windowStart, windowPictureCount, lastIDRTime) = (time, 1, isIDR ? time : nil)
            return false
        }
        var hasMeasured = false
        if isIDR {
            if let lastIDRTime, time > lastIDRTime {
                keyframeInterval = Double(time - lastIDRTime) / Double(Self.ticksPerSecond)
                hasMeasured = true
            }
            lastIDRTime = time
        }
        if time - windowStart >= Self.window {
            frameRate = Double(windowPictureCount) * Double(Self.ticksPerSecond) / Double(time - windowStart)
            (windowStart, windowPictureCount) = (time, 0)
            hasMeasured = true
        }
        windowPictureCount += 1
        return hasMeasured
    }
}
