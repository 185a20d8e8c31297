import AAC

/// What the monitor remembers of an audio track.
struct AudioState {
    var isPresent = false
    var configuration: AudioSpecificConfig?
    var meter = AudioMeter()
}

/// The audio bitrate over windows of five seconds of media time.
struct AudioMeter {
    private(set) var bitsPerSecond = 0
    private var windowStart: Int64?
    private var byteCount = 0

    static let ticksPerSecond: Int64 = 48_000
    static let window = 5 * ticksPerSecond
    /// What encoders exceed their setting by.
    static let tolerance = 1.1

    /// Counts one frame; true when a window is full and `bitsPerSecond` new.
    mutating func add(byteCount: Int, at time: Int64) -> Bool {
        guard let start = windowStart, time >= start, time - start <= 2 * Self.window else {
            (windowStart, self.byteCount) = (time, byteCount)
            return false
        }
        guard time - start >= Self.window else {
            self.byteCount += byteCount
            return false
        }
        bitsPerSecond = self.byteCount * 8 * Int(Self.ticksPerSecond) / Int(time - start)
        (windowStart, self.byteCount) = (time, byteCount)
        return true
    }
}
