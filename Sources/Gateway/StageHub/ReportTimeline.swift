import RTP
import Wire

/// The timeline of an RTP publisher (WHIP): each track has its own clock, tied to the publisher's wall clock by sender reports.
///
/// Publisher wall clock → our clock is one offset for all tracks. Until a track's first report, and for publishers that send
/// none, its own lower envelope of (arrival − RTP time) stands in; the change-over is slewed. All numbers are
/// nanoseconds; sums wrap, since timestamps and reports are the publisher's to choose.
struct ReportTimeline {
    private struct Track {
        var standIn = LowerEnvelope()
        var offset = SlewedOffset()
        /// Publisher wall clock less track time, from the latest sender report.
        var translation: Int64?
        var hasChangedOver = false
    }

    private var tracks: [TrackID: Track] = [:]
    private var session = LowerEnvelope()

    /// Faster than the normal slew, once per track: the stand-in may be a whole encoding delay off.
    static let changeOverRate: Int64 = 5_000_000

    /// A packet with unwrapped RTP `timestamp` came.
    mutating func observe(_ timestamp: Int64, of track: TrackID, arrival: MonotonicTime) {
        let time = track.nanoseconds(ofTimestamp: timestamp)
        var state = tracks.removeValue(forKey: track) ?? Track()  // moved out, so that its buckets are not copied
        state.standIn.observe(arrival.nanoseconds &- time, at: arrival)
        if let translation = state.translation {
            session.observe(arrival.nanoseconds &- time &- translation, at: arrival)
            follow(&state, translation, arrival)
        } else if let minimum = state.standIn.minimum {
            state.offset.approach(minimum, at: arrival)
        }
        tracks[track] = state
    }

    /// The publisher's sender report: `ntp` is the wall clock of its unwrapped RTP `timestamp`.
    mutating func publisherReported(ntp: UInt64, timestamp: Int64, of track: TrackID) {
        let fraction = Int64((ntp & 0xFFFF_FFFF) * 1_000_000_000 >> 32)
        let wall = Int64(ntp >> 32) * 1_000_000_000 + fraction
        tracks[track, default: Track()].translation = wall &- track.nanoseconds(ofTimestamp: timestamp)
    }

    /// The RTP time of the moment `now`; nil before the track's first packet.
    func timestamp(of track: TrackID, at now: MonotonicTime) -> Int64? {
        guard let offset = tracks[track]?.offset.value else { return nil }
        return track.timestamp(ofNanoseconds: now.nanoseconds &- offset)
    }

    private func follow(_ state: inout Track, _ translation: Int64, _ now: MonotonicTime) {
        guard let minimum = session.minimum else { return }
        let target = minimum &+ translation
        state.offset.approach(target, at: now, rate: state.hasChangedOver ? SlewedOffset.normalRate : Self.changeOverRate)
        if state.offset.value == target { state.hasChangedOver = true }
    }
}
