import RTP
import Wire

/// The timeline of an RTP publisher (WHIP): each track has its own clock, tied to the publisher's wall clock by sender reports.
///
/// Publisher wall clock → our clock is one offset for all tracks. Until a track's first report, and for publishers that send
/// none, its own lower envelope of (arrival − RTP time) stands in; the change-over is slewed. All tracks move at one rate: what
/// one track's report tells of the way moves the others too. A track whose RTP time jumps begins anew: no slewing would ever get
/// there. All numbers are nanoseconds; sums wrap, since timestamps and reports are the publisher's to choose.
struct ReportTimeline {
    private struct Track {
        let id: TrackID
        var standIn = LowerEnvelope()
        var offset = SlewedOffset()
        /// Publisher wall clock less track time, from the latest sender report.
        var translation: Int64?
        /// When its first packet came.
        private var began: MonotonicTime?
        var lastArrival = MonotonicTime.zero

        init(id: TrackID) { self.id = id }

        /// Whether a packet came long before its time: the RTP time jumped ahead.
        func isAhead(_ lag: Int64) -> Bool { offset.value.map { $0 &- lag > StampTimeline.largestStepForward } ?? false }

        /// - Parameter target: later than no packet of the last minute came. Where it lies far beyond the offset, the RTP time has
        ///   jumped back, or stood still while nothing was sent (browsers' audio).
        mutating func follow(_ target: Int64, at now: MonotonicTime, rate: Int64) {
            if let value = offset.value, target &- value > StampTimeline.largestStepBack { offset = SlewedOffset() }
            let began = began ?? now
            self.began = began
            if translation == nil, let value = offset.value, target < value, now - began < warmUp { offset = SlewedOffset() }
            offset.approach(target, at: now, rate: rate)
        }
    }

    /// A few: to look through them finds the track of a packet sooner than to hash.
    private var tracks: [Track] = []
    private var session = LowerEnvelope()
    /// Since when something has come without a pause of all tracks.
    private var flowsSince = MonotonicTime.zero
    private var lastArrival = MonotonicTime.zero
    /// From a track's first report until all are where the reports put them.
    private var changesOver = false

    /// A packet with unwrapped RTP `timestamp` came.
    mutating func observe(_ timestamp: Int64, of track: TrackID, arrival: MonotonicTime) {
        let (index, lag) = (index(of: track), arrival.nanoseconds &- track.nanoseconds(ofTimestamp: timestamp))
        noteFlow(at: arrival)
        if tracks[index].isAhead(lag) || hasStoodStill(tracks[index], lag, at: arrival) { tracks[index] = Track(id: track) }
        tracks[index].lastArrival = arrival
        tracks[index].standIn.observe(lag, at: arrival)
        if let translation = tracks[index].translation { session.observe(lag &- translation, at: arrival) }
        if let target = target(of: tracks[index]) {
            tracks[index].follow(target, at: arrival, rate: changesOver ? Self.changeOverRate : SlewedOffset.normalRate)
        }
        if changesOver { changesOver = tracks.contains { isUnderWay($0, at: arrival) } }
    }

    /// Whether the reports put it elsewhere. One of which nothing comes, as a layer that is paused, gets nowhere.
    private func isUnderWay(_ track: Track, at now: MonotonicTime) -> Bool {
        track.translation != nil && now - track.lastArrival < Self.pause && track.offset.value != target(of: track)
    }

    private mutating func noteFlow(at now: MonotonicTime) {
        if now - lastArrival >= Self.pause { flowsSince = now }
        lastArrival = now
    }

    /// Whether the sound's RTP time went on where it was, after a pause in which pictures came: a browser's microphone was away. Where
    /// all paused, the way was cut, and what comes late now is soon followed by what comes in time.
    private func hasStoodStill(_ track: Track, _ lag: Int64, at now: MonotonicTime) -> Bool {
        guard track.id.kind == .audio, now - track.lastArrival >= Self.pause, track.lastArrival >= flowsSince,
            let offset = track.offset.value
        else { return false }
        return lag &- offset > StampTimeline.largestStepBack
    }

    private func target(of track: Track) -> Int64? {
        guard let translation = track.translation else { return track.standIn.minimum }
        return session.minimum.map { $0 &+ translation }
    }

    /// The publisher's sender report: `ntp` is the wall clock of its unwrapped RTP `timestamp`, or 0 where it has none (RFC 3550
    /// §6.4.1): such a clock would stand still.
    mutating func publisherReported(ntp: UInt64, timestamp: Int64, of track: TrackID) {
        guard ntp != 0 else { return }
        let fraction = Int64((ntp & 0xFFFF_FFFF) * 1_000_000_000 >> 32)
        let wall = Int64(ntp >> 32) * 1_000_000_000 + fraction
        let (index, translation) = (index(of: track), wall &- track.nanoseconds(ofTimestamp: timestamp))
        let former = tracks[index].translation
        // The former one was written late, on a busy machine: no packet came as early as it had them look.
        let wasLate = former.map { $0 &- translation > Self.reportAccuracy } ?? false
        if wasLate { session = LowerEnvelope() }
        if former == nil { changesOver = true }
        // The quickest packet so far says more of the way than the next one, which may have to wait on it.
        if former == nil || wasLate, let minimum = tracks[index].standIn.minimum {
            session.observe(minimum &- translation, at: lastArrival)
        }
        tracks[index].translation = translation
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

    /// Faster than the normal slew: stand-ins may be a whole encoding delay off.
    static let changeOverRate: Int64 = 5_000_000
    private static let pause: Duration = .seconds(1)
    /// So long a stand-in goes down at once: the first packets wait until their encoder is under way.
    private static let warmUp: Duration = .seconds(2)
    /// What the moments at which an encoder writes its reports differ by while it is well.
    private static let reportAccuracy: Int64 = 20_000_000
}
