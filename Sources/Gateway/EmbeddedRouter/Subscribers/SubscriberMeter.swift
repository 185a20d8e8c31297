import Admission
import RTCP
import WebRTCTransport
import Wire

/// What one subscriber was sent, and what its reports say came: its statistics, anew for each second.
///
/// Media only counts here; rates are worked out once a second, loss and round trip with each report.
struct SubscriberMeter {
    private(set) var statistics: SubscriberStatistics
    /// All bytes since the second began.
    private(set) var byteCount = 0
    private var soundByteCount = 0
    /// When the second began; zero before the first.
    private var beginning = MonotonicTime.zero
    private var framesBefore = 0
    private var octetsBefore: (video: UInt32, sound: UInt32) = (0, 0)
    private var packetsBefore: UInt64 = 0
    /// What receiver reports say is missing, by source, and of all when the second began.
    private var missing: [UInt32: Int64] = [:]
    private var missingBefore: Int64 = 0

    init(of entry: SubscriberEntry) {
        statistics = SubscriberStatistics(
            sessionID: entry.transport.id, stageID: entry.watched.stageID, participantID: entry.watched.participantID,
            subscriberID: entry.grant.participantID)
    }

    // MARK: - What is sent

    mutating func sent(byteCount: Int) { self.byteCount += byteCount }

    /// Counts as sound what was sent since `byteCount` was `before`.
    mutating func soundSent(since before: Int) { soundByteCount += byteCount - before }

    mutating func packetSent() { statistics.packets += 1 }
    mutating func packetSentAgain() { statistics.retransmissions += 1 }
    mutating func layerSwitched() { statistics.layerSwitches += 1 }

    // MARK: - What came

    /// A report about a source of ours came at `wall`.
    mutating func note(_ block: ReportBlock, at wall: WallTime) {
        missing[block.ssrc] = Int64(max(0, block.cumulativeLost))
        statistics.lost = missing.values.reduce(0, +)
        guard block.lastSenderReport != 0 else { return }
        let compact = UInt32(truncatingIfNeeded: wall.ntp >> 16)
        let ticks = compact &- block.lastSenderReport &- block.delaySinceLastSenderReport
        // A negative one, from clocks that were set, would look like hours.
        if ticks < 0x8000_0000 { statistics.roundTripTime = .nanoseconds(Int64(ticks) * 1_000_000_000 / 65_536) }
    }

    // MARK: - Seconds

    func isSecondOver(at now: MonotonicTime) -> Bool { now - beginning >= Self.period }

    /// Ends a second and begins the next. The first call only begins one.
    /// - Returns: what sound took of the way, bits a second; nil when none has ended.
    mutating func endSecond(_ video: SubscriberTrack?, _ audio: SubscriberTrack?, at now: MonotonicTime) -> Int? {
        defer { (byteCount, soundByteCount, beginning) = (0, 0, now) }
        guard beginning != .zero else { return nil }
        let elapsed = (now - beginning).inSeconds
        statistics.bitsPerSecond = Int(Double(byteCount * 8) / elapsed)
        measure(video, audio, over: elapsed)
        measureLoss()
        return Int(Double(soundByteCount * 8) / elapsed)
    }

    private mutating func measure(_ video: SubscriberTrack?, _ audio: SubscriberTrack?, over elapsed: Double) {
        let octets = (video: video?.octetCount ?? 0, sound: audio?.octetCount ?? 0)
        statistics.videoBitsPerSecond = Int(Double(octets.video &- octetsBefore.video) * 8 / elapsed)
        statistics.soundBitsPerSecond = Int(Double(octets.sound &- octetsBefore.sound) * 8 / elapsed)
        let frames = video?.frameCount ?? 0
        statistics.framesPerSecond = Int((Double(frames - framesBefore) / elapsed).rounded())
        (octetsBefore, framesBefore) = (octets, frames)
    }

    private mutating func measureLoss() {
        let (packets, lost) = (statistics.packets - packetsBefore, max(0, statistics.lost - missingBefore))
        statistics.lossRatio = packets > 0 ? min(1, Double(lost) / Double(packets)) : nil
        (packetsBefore, missingBefore) = (statistics.packets, statistics.lost)
    }

    /// What the viewer's page was told last.
    mutating func told(_ state: LayerState) {
        (statistics.layer, statistics.estimatedBitsPerSecond) = (state.name(of: state.current), state.estimate)
    }

    private static let period: Duration = .seconds(1)
}
