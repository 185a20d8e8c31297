import Wire

/// The timeline of a publisher whose tracks carry stamps of one clock (RTMP): all tracks share one shift and one offset.
///
/// Stamps are placed on a session media time that goes on over jumps; that media time is mapped to our clock by the lower
/// envelope of (arrival − media time). All numbers are nanoseconds; sums wrap, since stamps are the encoder's to choose.
struct StampTimeline {
    private struct Track {
        let id: TrackID
        var shift: Int64
        var last: Int64
        /// The step from the frame before the last to the last: what "one frame" means after a jump.
        var frame: Int64
        /// Of the last.
        var arrival: MonotonicTime
    }

    private var envelope = LowerEnvelope()
    private var offset = SlewedOffset()
    /// A few: to look through them finds the track of a frame sooner than to hash.
    private var tracks: [Track] = []
    private var shift: Int64 = 0
    private var rebased: MonotonicTime?

    /// The session media time of `stamp`; a jump re-bases the session so that the track goes on one frame after its last, or on
    /// our clock after an outage.
    mutating func place(_ stamp: Int64, of track: TrackID, arrival: MonotonicTime) -> Int64 {
        let index = index(of: track, startingAt: stamp, arrival)
        var state = tracks[index]
        if isJump(to: stamp &+ state.shift, from: state.last, at: arrival) { rebase(&state, at: stamp, arrival) }
        let placed = stamp &+ state.shift
        if placed > state.last { state.frame = min(placed &- state.last, Self.longestFrame) }
        (state.last, state.arrival) = (placed, arrival)
        tracks[index] = state
        envelope.observe(arrival.nanoseconds &- placed, at: arrival)
        if let minimum = envelope.minimum { offset.approach(minimum, at: arrival) }
        return placed
    }

    /// The session media time of the moment `now`, equal for all tracks; nil before the first stamp.
    func mediaTime(at now: MonotonicTime) -> Int64? { offset.value.map { now.nanoseconds &- $0 } }

    /// A track's place; one that is new gets the last.
    private mutating func index(of track: TrackID, startingAt stamp: Int64, _ arrival: MonotonicTime) -> Int {
        if let index = tracks.firstIndex(where: { $0.id == track }) { return index }
        tracks.append(Track(id: track, shift: shift, last: stamp &+ shift, frame: 0, arrival: arrival))
        return tracks.count - 1
    }

    private mutating func rebase(_ state: inout Track, at stamp: Int64, _ arrival: MonotonicTime) {
        let follows =
            state.shift != shift && rebased.map { arrival - $0 <= Self.followTime } == true
            && !isJump(to: stamp &+ shift, from: state.last, at: arrival)
        if !follows {
            shift = continuation(of: state, at: arrival) &- stamp
            rebased = arrival
        }
        state.shift = shift
    }

    /// Where a track whose stamps jumped goes on. An outage stays a gap, or our clock would be ahead by its length for hours.
    private func continuation(of track: Track, at arrival: MonotonicTime) -> Int64 {
        let next = track.last &+ track.frame
        guard arrival.nanoseconds &- track.arrival.nanoseconds > Self.longestFrame else { return next }
        return max(next, mediaTime(at: arrival) ?? next)
    }

    /// A real gap or a TCP catch-up steps forward too, but lands on or behind our clock.
    private func isJump(to placed: Int64, from last: Int64, at arrival: MonotonicTime) -> Bool {
        let step = placed &- last
        if step < -Self.largestStepBack { return true }
        guard step > Self.largestStepForward, let minimum = envelope.minimum else { return false }
        return placed > arrival.nanoseconds &- minimum &+ Self.clockTolerance
    }

    /// A step back of more than this is a jump; less is disorder.
    static let largestStepBack: Int64 = 500_000_000
    /// A step forward of more than this that lands ahead of our clock is a jump.
    static let largestStepForward: Int64 = 3_000_000_000
    /// How far ahead of our clock honest stamps land: the envelope is not exact at once.
    static let clockTolerance: Int64 = 500_000_000
    /// Within this time after one track's jump the other one's is the same jump.
    static let followTime = Duration.seconds(2)
    /// Frames are at most this long: 1 fps. A track of which nothing came for longer had an outage.
    static let longestFrame: Int64 = 1_000_000_000
}
