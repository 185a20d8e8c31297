import Wire

/// Which of an encoder's tracks of a kind is its publish: track 0, or else the lowest number. A value.
///
/// Enhanced RTMP v2 recommends 0 for the best track and rising numbers for lesser ones; it demands neither.
struct MainTrack {
    private(set) var id: UInt8 = 0
    /// Whether it is settled which track this is.
    private(set) var isKnown = false
    private var lowest = UInt8.max
    /// When the first of the others came.
    private var since: MonotonicTime?

    /// Something of a track came.
    /// - Returns: whether it is known now that track 0 is not sent.
    mutating func came(_ tag: some TrackTag, at now: MonotonicTime) -> Bool {
        guard !isKnown, tag.showsTrack else { return false }
        if tag.trackID == 0 {
            isKnown = true
            return false
        }
        lowest = min(lowest, tag.trackID)
        guard let since else {
            self.since = now
            return false
        }
        guard now - since >= Self.patience else { return false }
        (id, isKnown) = (lowest, true)
        return true
    }

    /// Encoders begin all tracks at once. The contract's tracks have to come within 5 s.
    static let patience = Duration.seconds(2)
}
