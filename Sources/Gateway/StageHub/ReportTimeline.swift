import RTP
import Wire

/// The timeline of an RTP publisher (WHIP): each track has its own clock, tied to the publisher's wall clock by sender reports.
///
/// Publisher wall clock → our clock is one offset for all tracks. Until a track's first report, and for publishers that send
/// none, its own lower envelope of (arrival − RTP time) stands in; the change-over is slewed. A track whose RTP time jumps begins
/// anew: no slewing would ever get there. All numbers are nanoseconds; sums wrap, since timestamps and reports are the publisher's
/// to choose.
struct ReportTimeline {
    private struct Track {
        let id: TrackID
        var standIn = LowerEnvelope()
        var offset = SlewedOffset()
        /// Publisher wall clock less track time, from the latest sender report.
        var translation: Int64?
        var hasChangedOver = false

        /// Whether a packet came long before its time: the RTP time jumped ahead.
        func isAhead(_ lag: Int64) -> Bool { offset.value.map { $0 &- lag > StampTimeline.largestStepForward } ?? false }

        /// - Parameter target: later than no packet of the last minute came. Where it lies far beyond the offset, the RTP time has
        ///   jumped back, or stood still while nothing was sent (browsers' audio).
        mutating func follow(_ target: Int64, at now: MonotonicTime) {
            if let value = offset.value, target &- value > StampTimeline.largestStepBack { offset = SlewedOffset() }
            let changesOver = translation != nil && !hasChangedOver
            offset.approach(target, at: now, rate: changesOver ? changeOverRate : SlewedOffset.normalRate)
            if changesOver, offset.value == target { hasChangedOver = true }
        }
    }

    /// A few: to look through them finds the track of a packet sooner than to hash.
    private var tracks: [Track] = []
    private var session = LowerEnvelope()

    /// A packet with unwrapped RTP `timestamp` came.
    mutating func observe(_ timestamp: Int64, of track: TrackID, arrival: MonotonicTime) {
        let (index, lag) = (index(of: track), arrival.nanoseconds &- track.nanoseconds(ofTimestamp: timestamp))
        if tracks[index].isAhead(lag) { tracks[index] = Track(id: track) }
        tracks[index].standIn.observe(lag, at: arrival)
        if let translation = tracks[index].translation {
            session.observe(lag &- translation, at: arrival)
            if let minimum = session.minimum { tracks[index].follow(minimum &+ translation, at: arrival) }
        } else if let minimum = tracks[index].standIn.minimum {
            tracks[index].follow(minimum, at: arrival)
        }
    }

    /// The publisher's sender report: `ntp` is the wall clock of its unwrapped RTP `timestamp`, or 0 where it has none (RFC 3550
    /// §6.4.1): such a clock would stand still.
    mutating func publisherReported(ntp: UInt64, timestamp: Int64, of track: TrackID) {
        guard ntp != 0 else { return }
        let fraction = Int64((ntp & 0xFFFF_FFFF) * 1_000_000_000 >> 32)
        let wall = Int64(ntp >> 32) * 1_000_000_000 + fraction
        tracks[index(of: track)].translation = wall &- track.nanoseconds(ofTimestamp: timestamp)
    }

    /// The RTP time of the moment `now`; nil before the track's first packet.
    func timestamp(of track: TrackID, at now: MonotonicTime) -> Int64? {
        guard let offset = offset(of: track) else { return nil }
        return track.timestamp(ofNanoseconds: now.nanoseconds &- offset)
    }

    /// What is added to timestamps of one layer to have them on the clock of another one; nil before both have come.
    ///
    /// Encoders that begin all layers at one zero, and report on few of them (OBS), are told by how near their clocks are.
    func shift(from former: TrackID, to layer: TrackID) -> Int64? {
        guard let old = offset(of: former), let new = offset(of: layer) else { return nil }
        let difference = new &- old
        return difference.magnitude < Self.oneBeginning ? 0 : former.timestamp(ofNanoseconds: difference)
    }

    private func offset(of track: TrackID) -> Int64? { tracks.first { $0.id == track }?.offset.value }

    /// Clocks that begin at random are so near by chance once in half a day of beginnings.
    private static let oneBeginning: UInt64 = 500_000_000

    /// A track's place; one that is new gets the last.
    private mutating func index(of track: TrackID) -> Int {
        if let index = tracks.firstIndex(where: { $0.id == track }) { return index }
        tracks.append(Track(id: track))
        return tracks.count - 1
    }

    /// Faster than the normal slew, once per track: the stand-in may be a whole encoding delay off.
    static let changeOverRate: Int64 = 5_000_000
}
