import Wire

/// The timeline of an RTP publisher (WHIP): what RTP time each track has at a moment of our clock (docs/design.md 5.3).
///
/// Each track's RTP time begins anywhere. Sender reports tie it to the publisher's wall clock, and the quickest way of all tracks
/// ties that to our clock. Until a track's first report, and for publishers that send none, its own quickest packet stands in.
/// Tracks move slowly, all at one rate, or one would part from the others; one whose RTP time jumps, or stood still, begins anew:
/// no slewing would ever get there. In seconds, sound and pictures of the moment 7.00 on the publisher's wall clock:
///
///                 RTP time   arrival    lag   wall offset    way   offset
///     sound           3.00     11.01   8.01          4.00   4.01   4.01 + 4.00 = 8.01
///     pictures        2.00     11.09   9.09          5.00   4.09   4.01 + 5.00 = 9.01
///
/// At 11.01 the sound has RTP time 11.01 − 8.01 = 3.00 and the pictures 11.01 − 9.01 = 2.00: those of one moment.
/// In the code all numbers are nanoseconds, and sums wrap, since timestamps and reports are the publisher's to choose.
struct ReportTimeline {
    /// A few: to look through them finds the track of a packet sooner than to hash.
    private var tracks: [ReportedTrack] = []

    // MARK: - What comes

    /// A packet with unwrapped RTP `timestamp` came.
    mutating func observe(_ timestamp: Int64, of track: TrackID, arrival: MonotonicTime) {
        let (index, lag) = (index(of: track), arrival.nanoseconds &- track.nanoseconds(ofTimestamp: timestamp))
        tracks[index].came(lag, at: arrival)
        if tracks[index].isFarAhead(lag) || hasMoved(tracks[index], at: arrival) {
            tracks[index] = ReportedTrack(id: track)
            tracks[index].came(lag, at: arrival)
        }
        let way = quickestWay(at: arrival)
        let rate = areApart(by: way, at: arrival) ? Self.gatheringRate : SlewedOffset.normalRate
        tracks[index].follow(way, at: arrival, rate: rate)
    }

    /// The publisher's sender report: `ntp` is the wall clock of its unwrapped RTP `timestamp`, or 0 where it has none (RFC 3550
    /// §6.4.1): such a clock would stand still.
    mutating func publisherReported(ntp: UInt64, timestamp: Int64, of track: TrackID) {
        guard ntp != 0 else { return }
        let fraction = Int64(((ntp & 0xFFFF_FFFF) * 1_000_000_000) >> 32)
        let wall = Int64(ntp >> 32) * 1_000_000_000 + fraction
        tracks[index(of: track)].reported(wall &- track.nanoseconds(ofTimestamp: timestamp))
    }

    /// A track's place; one that is new gets the last.
    private mutating func index(of track: TrackID) -> Int {
        if let index = tracks.firstIndex(where: { $0.id == track }) { return index }
        tracks.append(ReportedTrack(id: track))
        return tracks.count - 1
    }

    // MARK: - What all tracks tell together

    /// Whether the RTP time of this track alone has moved.
    private func hasMoved(_ track: ReportedTrack, at now: MonotonicTime) -> Bool {
        tracks.contains { track.hasMoved(beside: $0, at: now) }
    }

    /// Our clock less the publisher's wall clock, by what has come the quickest; nil before the first report. A layer of which
    /// nothing comes any more tells nothing of the way.
    private func quickestWay(at now: MonotonicTime) -> Int64? {
        tracks.lazy.filter { $0.isFlowing(at: now) }.compactMap(\.ownWay).min()
    }

    /// Whether some track is farther from its place than another one. How far all are from it together, nobody hears.
    private func areApart(by way: Int64?, at now: MonotonicTime) -> Bool {
        let errors = tracks.lazy.filter { $0.isReported && $0.isFlowing(at: now) }.compactMap { $0.error(by: way) }
        guard let least = errors.min(), let most = errors.max() else { return false }
        return most &- least > Self.largestDifference
    }

    // MARK: - What is asked

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

    private func offset(of track: TrackID) -> Int64? { tracks.first { $0.id == track }?.offset }

    /// Faster than the normal slew: stand-ins may be a whole encoding delay off.
    private static let gatheringRate: Int64 = 5_000_000
    /// What the reports of an encoder that writes them with the time of its last packet waver by.
    private static let largestDifference: Int64 = 10_000_000
    /// Clocks that begin at random are so near by chance once in half a day of beginnings.
    private static let oneBeginning: UInt64 = 500_000_000
}
