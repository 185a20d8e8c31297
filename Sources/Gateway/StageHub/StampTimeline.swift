import Wire

/// The timeline of a publisher whose tracks carry stamps of one clock (RTMP): all tracks share one shift and one offset.
///
/// Stamps are placed on a session media time that goes on over jumps; that media time is mapped to our clock by the lower
/// envelope of (arrival − media time). An encoder whose stamps begin anew, in milliseconds; its sound jumps a little later than
/// its pictures, and takes their shift:
///
///     stamps of pictures   900,000   900,033         0        33
///     shift                      0         0   900,066   900,066
///     media time           900,000   900,033   900,066   900,099
///
/// In the code all numbers are nanoseconds; sums wrap, since stamps are the encoder's to choose.
struct StampTimeline {
    private struct Track {
        let id: TrackID
        /// What is added to its stamps.
        var shift: Int64
        /// Where its last frame was placed.
        var last: Int64
        /// The step from the frame before the last to the last: what "one frame" means after a jump.
        var frame: Int64 = 0
        /// Of the last.
        var arrival: MonotonicTime

        mutating func goOn(to placed: Int64, at arrival: MonotonicTime) {
            if placed > last { frame = min(placed &- last, StampTimeline.longestFrame) }
            (last, self.arrival) = (placed, arrival)
        }
    }

    private var envelope = LowerEnvelope()
    private var offset = SlewedOffset()
    /// A few: to look through them finds the track of a frame sooner than to hash.
    private var tracks: [Track] = []
    /// The latest jump's, for all tracks that have come to it.
    private var shift: Int64 = 0
    private var lastJump: MonotonicTime?

    /// The session media time of `stamp`; a jump re-bases the session so that the track goes on one frame after its last, or on
    /// our clock after an outage.
    mutating func place(_ stamp: Int64, of track: TrackID, arrival: MonotonicTime) -> Int64 {
        let index = index(of: track, startingAt: stamp, arrival)
        if isJump(to: stamp &+ tracks[index].shift, from: tracks[index].last, at: arrival) {
            tracks[index].shift = shiftAfterJump(of: tracks[index], to: stamp, arrival)
        }
        let placed = stamp &+ tracks[index].shift
        tracks[index].goOn(to: placed, at: arrival)
        envelope.observe(arrival.nanoseconds &- placed, at: arrival)
        if let minimum = envelope.minimum { offset.approach(minimum, at: arrival) }
        return placed
    }

    /// The session media time of the moment `now`, equal for all tracks; nil before the first stamp.
    func mediaTime(at now: MonotonicTime) -> Int64? { offset.value.map { now.nanoseconds &- $0 } }

    /// A track's place; one that is new gets the last.
    private mutating func index(of track: TrackID, startingAt stamp: Int64, _ arrival: MonotonicTime) -> Int {
        if let index = tracks.firstIndex(where: { $0.id == track }) { return index }
        tracks.append(Track(id: track, shift: shift, last: stamp &+ shift, arrival: arrival))
        return tracks.count - 1
    }

    /// The shift from here on: that of another track, which jumped just before, or a new one of the session.
    private mutating func shiftAfterJump(of track: Track, to stamp: Int64, _ arrival: MonotonicTime) -> Int64 {
        if !isLastJump(of: track, to: stamp, arrival) {
            shift = continuation(of: track, at: arrival) &- stamp
            lastJump = arrival
        }
        return shift
    }

    /// Whether the track jumps as another one did, and comes to it only now.
    private func isLastJump(of track: Track, to stamp: Int64, _ arrival: MonotonicTime) -> Bool {
        guard track.shift != shift, let lastJump, arrival - lastJump <= Self.followTime else { return false }
        return !isJump(to: stamp &+ shift, from: track.last, at: arrival)
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
