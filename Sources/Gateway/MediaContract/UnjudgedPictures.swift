import Wire

/// Counts a layer's pictures of which nothing can be judged: a slice has come whose header cannot be read, or whose parameter
/// sets have not come whole. A network that loses and reorders makes a few of them, who hides profile
/// and B-frames makes nothing else.
struct UnjudgedPictures {
    private var allowance = Allowance(maximumCount, then: earnedIn)
    /// Media time of the last one: slices of a picture count once.
    private var lastTime: Int64?

    /// Half a minute at 30 pictures a second: first parameter sets may be lost, and the keyframe that brings them again far off.
    static let maximumCount = 900
    /// One more is admitted after each of these.
    static let earnedIn = Duration.seconds(1)

    /// - Parameter moment: of a slice of which nothing can be judged.
    /// - Returns: false for a picture too many.
    mutating func admit(at moment: MediaMoment) -> Bool {
        guard moment.mediaTime != lastTime else { return true }
        lastTime = moment.mediaTime
        return allowance.take(at: moment.arrival)
    }
}
