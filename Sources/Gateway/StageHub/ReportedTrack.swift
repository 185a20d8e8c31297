import Wire

/// One track of an RTP publisher: its way to us, what its sender reports say, and what its RTP time is taken for. A value.
///
/// All numbers are nanoseconds. A packet's *lag* is its arrival less its RTP time.
struct ReportedTrack {
    let id: TrackID
    /// Our clock less the RTP time; nil before the first packet.
    var offset: Int64? { slewed.value }

    private var lastArrival = MonotonicTime.zero
    /// The first packet since which there was no pause.
    private var flowsSince = MonotonicTime.zero
    /// Since when all packets have come before their time.
    private var earlySince: MonotonicTime?
    /// When one last came half as long before its time.
    private var lastHalfEarly: MonotonicTime?
    /// Since when all packets have come long after their time.
    private var lateSince: MonotonicTime?
    /// Since when all packets have come later than the quickest one of the last minute, by more than a jitter.
    private var slowSince: MonotonicTime?
    private var slewed = SlewedOffset()
    private var lags = LowerEnvelope()
    /// Publisher wall clock less RTP time, by the latest reports.
    private var reports: [Int64] = []

    init(id: TrackID) { self.id = id }

    // MARK: - What comes

    mutating func came(_ lag: Int64, at now: MonotonicTime) {
        if !isFlowing(at: now) { flowsSince = now }
        lastArrival = now
        let delay = lag &- (offset ?? lag)
        if delay < -Self.largestJitter / 2 { lastHalfEarly = now }
        earlySince = delay < -Self.largestJitter ? earlySince ?? now : nil
        lateSince = delay > StampTimeline.largestStepBack ? lateSince ?? now : nil
        slowSince = lag &- (lags.minimum ?? lag) > Self.largestJitter ? slowSince ?? now : nil
        lags.observe(lag, at: now)
    }

    /// - Parameter difference: publisher wall clock less RTP time.
    mutating func reported(_ difference: Int64) {
        let former = clock
        if reports.count == Self.reportCount { reports.removeFirst() }
        reports.append(difference)
        // The RTP time has stood still: earlier packets look too early now.
        if let former, let clock, clock &- former > Self.largestRise { lags = LowerEnvelope() }
    }

    // MARK: - Where it is

    var isReported: Bool { !reports.isEmpty }

    func isFlowing(at now: MonotonicTime) -> Bool { now - lastArrival < Self.pause }

    /// Whether a packet came long before its time: the RTP time jumped ahead.
    func isAhead(_ lag: Int64) -> Bool { offset.map { $0 &- lag > StampTimeline.largestStepForward } ?? false }

    /// Whether its RTP time has moved, and the other's has not. What a busy encoder or a way that was cut has held back is soon
    /// followed by what comes in time.
    func hasMoved(beside other: ReportedTrack, at now: MonotonicTime) -> Bool {
        other.isFlowing(at: now) && (hasGoneAhead(beside: other, at: now) || hasStoodStill(beside: other, at: now))
    }

    /// Where the way has become quicker all tracks are early, those with the longer encoding less so.
    private func hasGoneAhead(beside other: ReportedTrack, at now: MonotonicTime) -> Bool {
        let isOtherEarly = other.lastHalfEarly.map { now - $0 < Self.pause } ?? false
        return !isOtherEarly && Self.lasts(since: earlySince, Self.pause, at: now)
    }

    /// Sound went on where it was after a pause, since a browser's microphone was away. One that began on a slow way cannot tell
    /// that it is slow.
    private func hasStoodStill(beside other: ReportedTrack, at now: MonotonicTime) -> Bool {
        guard id.kind == .audio, other.flowsSince < slowSince ?? lateSince ?? now else { return false }
        return other.lateSince == nil && Self.lasts(since: lateSince, Self.pause, at: now)
            || other.slowSince == nil && Self.lasts(since: slowSince, Self.longestHold, at: now)
    }

    private static func lasts(since start: MonotonicTime?, _ span: Duration, at now: MonotonicTime) -> Bool {
        start.map { now - $0 >= span } ?? false
    }

    /// Our clock less the publisher's wall clock, by the quickest packet of the last minute; nil before a report.
    var wallWay: Int64? { clock.flatMap { clock in lags.minimum.map { $0 &- clock } } }

    /// Publisher wall clock less RTP time. A report that was written late says too much, and none says too little.
    private var clock: Int64? { reports.min() }

    // MARK: - Following

    /// How far it is from its place.
    /// - Parameter way: our clock less the publisher's wall clock.
    func error(by way: Int64?) -> Int64? {
        guard let offset, let target = target(by: way) else { return nil }
        return target &- offset
    }

    /// Where the target lies far beyond the offset, the RTP time has jumped back. The first packets wait until their encoder is
    /// under way: while nothing but arrivals tells of the track, quicker ones count at once.
    mutating func follow(_ way: Int64?, at now: MonotonicTime, rate: Int64) {
        guard let target = target(by: way) else { return }
        let error = offset.map { target &- $0 } ?? 0
        let isBeginning = !isReported && now - flowsSince < Self.warmUp
        if error > StampTimeline.largestStepBack || (error < 0 && isBeginning) { slewed = SlewedOffset() }
        slewed.approach(target, at: now, rate: rate)
    }

    private func target(by way: Int64?) -> Int64? {
        guard let clock else { return lags.minimum }
        return way.map { $0 &+ clock }
    }

    /// No way holds one track alone back for so long. Browsers' sound without speech (DTX) has a packet every 0.4 s.
    private static let pause: Duration = .seconds(1)
    private static let warmUp: Duration = .seconds(2)
    /// No encoder holds one track alone back for so long.
    private static let longestHold: Duration = .seconds(2)
    private static let largestJitter: Int64 = 200_000_000
    /// One of them is in time.
    private static let reportCount = 3
    /// No report of three is so late, but the RTP time has stood still.
    private static let largestRise: Int64 = 100_000_000
}
