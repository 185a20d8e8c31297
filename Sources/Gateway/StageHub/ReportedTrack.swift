import Wire

/// One track of an RTP publisher: what its RTP time is taken for, by its packets and its sender reports. A value.
///
/// A packet's *lag* is its arrival less its RTP time; the least of a minute's came the quickest. A report tells the *wall
/// offset*: the publisher's wall clock less the RTP time. Lag less wall offset is a packet's *way*. The track's *offset*, our
/// clock less the RTP time, moves to where its wall offset and the quickest way of all tracks put it, or before its first report
/// its own least lag. All numbers are nanoseconds; the table of `ReportTimeline` is an example with each of them.
struct ReportedTrack {
    let id: TrackID
    /// Our clock less the RTP time; nil before the first packet.
    var offset: Int64? { slewedOffset.value }

    private var slewedOffset = SlewedOffset()
    private var punctuality = Punctuality()
    private var lags = LowerEnvelope()
    /// Wall offsets by the latest reports.
    private var reports: [Int64] = []

    init(id: TrackID) { self.id = id }

    // MARK: - What comes

    mutating func came(_ lag: Int64, at now: MonotonicTime) {
        punctuality.came(delay: lag &- (offset ?? lag), wait: lag &- (lags.minimum ?? lag), at: now)
        lags.observe(lag, at: now)
    }

    /// - Parameter difference: a wall offset.
    mutating func reported(_ difference: Int64) {
        let former = wallOffset
        if reports.count == Self.reportCount { reports.removeFirst() }
        reports.append(difference)
        // The RTP time has stood still: earlier packets look too early now.
        if let former, let wallOffset, wallOffset &- former > Self.largestRise { lags = LowerEnvelope() }
    }

    // MARK: - Whether it goes on

    var isReported: Bool { !reports.isEmpty }

    func isFlowing(at now: MonotonicTime) -> Bool { punctuality.isFlowing(at: now) }

    /// Whether a packet came so long before its time that the RTP time has jumped ahead.
    func isFarAhead(_ lag: Int64) -> Bool { offset.map { $0 &- lag > StampTimeline.largestStepForward } ?? false }

    /// Whether its RTP time has moved, and the other's has not. Only sound stands still: a browser's, whose microphone is away.
    func hasMoved(beside other: ReportedTrack, at now: MonotonicTime) -> Bool {
        punctuality.hasGoneAhead(beside: other.punctuality, at: now)
            || id.kind == .audio && punctuality.hasStoodStill(beside: other.punctuality, at: now)
    }

    // MARK: - Where it is

    /// Our clock less the publisher's wall clock, by the quickest packet of the last minute; nil before a report.
    var ownWay: Int64? {
        guard let quickest = lags.minimum, let wallOffset else { return nil }
        return quickest &- wallOffset
    }

    /// A report that was written late says too much, and none says too little.
    private var wallOffset: Int64? { reports.min() }

    /// How far it is from its place.
    /// - Parameter way: the quickest of all tracks.
    func error(by way: Int64?) -> Int64? {
        guard let offset, let target = target(by: way) else { return nil }
        return target &- offset
    }

    private func target(by way: Int64?) -> Int64? {
        guard let wallOffset else { return lags.minimum }
        return way.map { $0 &+ wallOffset }
    }

    // MARK: - Following

    /// Moves the offset towards its target.
    mutating func follow(_ way: Int64?, at now: MonotonicTime, rate: Int64) {
        guard let target = target(by: way) else { return }
        if let error = error(by: way), isStep(error, at: now) { slewedOffset = SlewedOffset() }
        slewedOffset.approach(target, at: now, rate: rate)
    }

    /// Whether to make it good at once. Where the target lies far beyond the offset, the RTP time has jumped back. The first
    /// packets wait until their encoder is under way: while nothing but arrivals tells of the track, quicker ones count at once.
    private func isStep(_ error: Int64, at now: MonotonicTime) -> Bool {
        let isBeginning = !isReported && now - punctuality.flowsSince < Self.warmUp
        return error > StampTimeline.largestStepBack || (error < 0 && isBeginning)
    }

    private static let warmUp: Duration = .seconds(2)
    /// One of them is in time.
    private static let reportCount = 3
    /// No report of three is so late, but the RTP time has stood still.
    private static let largestRise: Int64 = 100_000_000
}
