import StageHub
import Wire

/// One timeline from two encoders' media: numbers and timestamps go on through every switch (docs/redundant-ingest.md). A value.
///
/// A source's media time gets one offset for all its tracks, which changes by `SourceClock.distance`.
struct SourceSplice {
    /// How one track goes on.
    private struct Track {
        let id: TrackID
        private var nextNumber: Int64 = 0
        /// Where the newest picture or the newest sound ends, in ticks.
        private(set) var end: Int64?
        /// Of the picture at hand, which may come in several runs: its timestamp, and what it became.
        private var latest: (timestamp: Int64, moved: Int64)?
        /// From the source's numbers to ours; nil before its first packet.
        private var constant: Int64?
        /// Sound is moved by this, at most 10 ms, to begin where the former's ends.
        private var nudge: Int64 = 0
        /// Nothing of the source has come later than `end` yet.
        private var isJoining = false

        init(_ id: TrackID) { self.id = id }

        /// Another source begins.
        mutating func begin() { (latest, constant, nudge, isJoining) = (nil, nil, 0, end != nil) }

        /// - Parameter shift: from the source's timestamps to ours.
        mutating func place(number: Int64, count: Int64, timestamp: Int64, shift: Int64) -> Place? {
            let place = id.kind == .video ? picture(timestamp &+ shift) : sound(timestamp &+ shift)
            guard let (moved, isGap) = place else { return nil }
            let constant = constant ?? nextNumber &- number
            self.constant = constant
            nextNumber = max(nextNumber, number &+ constant &+ count)
            return Place(number: constant, shift: moved &- timestamp, isGap: isGap)
        }

        /// Pictures that were shown already are decoded still: they lie next to each other.
        private mutating func picture(_ timestamp: Int64) -> (Int64, Bool)? {
            if let latest, latest.timestamp == timestamp { return (latest.moved, false) }
            var moved = timestamp
            if isJoining, let end {
                if timestamp > end { isJoining = false } else { moved = end + SourceSplice.squeezed }
            }
            end = max(end ?? moved, moved)
            latest = (timestamp, moved)
            return (moved, false)
        }

        private mutating func sound(_ timestamp: Int64) -> (Int64, Bool)? {
            var isGap = false
            if isJoining, let end {
                guard timestamp >= end - SourceSplice.largestNudge else { return nil }
                isGap = timestamp > end + SourceSplice.largestNudge
                (nudge, isJoining) = (isGap ? 0 : end - timestamp, false)
            }
            let moved = timestamp + nudge
            end = max(end ?? moved, moved + SourceSplice.soundTicks)
            return (moved, isGap)
        }
    }

    /// A run's place: what is added to its numbers and timestamps, or the one timestamp that all its packets get.
    struct Place: Equatable {
        var number: Int64
        var shift: Int64
        /// Sound does not go on where it was.
        var isGap: Bool
    }

    private var tracks: [Track] = []
    /// From the source's media time to ours, nanoseconds.
    private(set) var offset: Int64 = 0

    /// What lies between pictures that the former source had shown already, in ticks of 90 kHz: 0.1 ms. All that is kept of
    /// them takes less than one picture's time, so that none that is new comes too late.
    static let squeezed: Int64 = 9
    /// 50 ms in ticks of 90 kHz: what lies nearer than this to a picture is the next one.
    static let nextPicture: Int64 = 4_500
    /// 10 ms in ticks of 48 kHz: half a packet.
    static let largestNudge: Int64 = 480
    /// 20 ms, as transcoded packets have.
    static let soundTicks: Int64 = 960

    /// Another source begins.
    /// - Parameters:
    ///   - former: the clock of the source until now; nil where there was none.
    ///   - clock: of the one that begins.
    mutating func begin(after former: SourceClock?, _ clock: SourceClock) {
        if let former { offset = offset &+ clock.distance(from: former) }
        for index in tracks.indices { tracks[index].begin() }
    }

    /// Whether pictures of the source from `timestamp` on leave none out. By when they came that cannot be said: where the former
    /// source came later than this one did, what this one brought meanwhile has not been shown yet.
    func reaches(_ timestamp: Int64, of id: TrackID) -> Bool {
        guard let end = tracks.lazy.filter({ $0.id.kind == .video }).compactMap(\.end).max() else { return true }
        return timestamp &+ id.timestamp(ofNanoseconds: offset) <= end &+ Self.nextPicture
    }

    /// The place of one run; nil when it is to be left out, as sound that has been heard.
    /// - Parameters:
    ///   - number: its first packet's.
    ///   - count: how many numbers it takes.
    mutating func place(_ id: TrackID, number: Int64, count: Int64, timestamp: Int64) -> Place? {
        let index = index(of: id)
        return tracks[index].place(
            number: number, count: count, timestamp: timestamp, shift: id.timestamp(ofNanoseconds: offset))
    }

    /// A few: the one of a run is found sooner by looking than by hashing.
    private mutating func index(of id: TrackID) -> Int {
        if let index = tracks.firstIndex(where: { $0.id == id }) { return index }
        tracks.append(Track(id))
        return tracks.count - 1
    }
}
