public import Wire

/// One session's map from media time to our wall clock, the same for all its tracks (docs/design.md 5.3). Confined to its worker.
///
/// An ingest feeds it one way: RTMP places stamps, WHIP shows packets and the publisher's sender reports. Sinks ask what RTP
/// time the present moment has, and write sender reports from that, never from a packet's arrival.
public final class Timeline {
    private var stamps = StampTimeline()
    private var reports = ReportTimeline()
    private var hasStamps = false

    public init() {}

    /// Places an unwrapped stamp of a publisher whose tracks share one clock (RTMP).
    /// - Returns: session media time, which goes on one frame after the last where stamps jump, or on our clock after an outage.
    public func place(_ stamp: Duration, of track: TrackID, arrival: MonotonicTime) -> Duration {
        hasStamps = true
        return .nanoseconds(stamps.place(stamp.nanoseconds, of: track, arrival: arrival))
    }

    /// A publisher's packet with unwrapped RTP `timestamp` came (WHIP).
    public func observe(_ timestamp: Int64, of track: TrackID, arrival: MonotonicTime) {
        reports.observe(timestamp, of: track, arrival: arrival)
    }

    /// A publisher's sender report came: `ntp` is the wall clock of unwrapped RTP `timestamp` (WHIP).
    public func publisherReported(ntp: UInt64, timestamp: Int64, of track: TrackID) {
        reports.publisherReported(ntp: ntp, timestamp: timestamp, of: track)
    }

    /// The unwrapped RTP time of `track` that stands for the moment `now`; nil before anything came.
    public func timestamp(of track: TrackID, at now: MonotonicTime) -> Int64? {
        guard hasStamps else { return reports.timestamp(of: track, at: now) }
        return stamps.mediaTime(at: now).map { track.timestamp(ofNanoseconds: $0) }
    }

    /// What is added to timestamps of one layer to have them on the clock of another one; nil before both have come.
    public func shift(from former: TrackID, to layer: TrackID) -> Int64? {
        hasStamps ? 0 : reports.shift(from: former, to: layer)
    }

    /// The publisher changed (takeover): all media times begin anew.
    public func restart() { (stamps, reports, hasStamps) = (StampTimeline(), ReportTimeline(), false) }
}

extension Duration {
    /// A media time as unwrapped RTP time of `track`.
    public func timestamp(for track: TrackID) -> Int64 { track.timestamp(ofNanoseconds: nanoseconds) }
}
