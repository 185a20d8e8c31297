import Wire

/// How far a publish's media has fallen behind, as over a way that does not carry its bitrate. A value, without a clock.
struct MediaDelay {
    /// When it was looked at last.
    private var newest: Duration?
    /// Since when it is late.
    private var since: MonotonicTime?
    private var told = Duration.zero

    /// Less comes of one lost packet on a long way.
    private static let late = Duration.seconds(2)
    /// What TCP had to repeat is late too, and soon in time again.
    private static let patience = Duration.seconds(10)

    /// To be called about once a second.
    /// - Parameters:
    ///   - mediaTime: of the newest frame.
    ///   - due: what it would be if that had come as fast as the first ones.
    /// - Returns: the delay when it has lasted for a while, and again when it has doubled.
    mutating func look(_ mediaTime: Duration, due: Duration, at now: MonotonicTime) -> Duration? {
        // That nothing comes is told by its own deadline.
        guard mediaTime != newest else { return nil }
        newest = mediaTime
        let delay = due - mediaTime
        guard delay >= Self.late else {
            (since, told) = (nil, .zero)
            return nil
        }
        let began = since ?? now
        since = began
        guard now - began >= Self.patience, delay >= told * 2 else { return nil }
        told = delay
        return delay
    }
}
