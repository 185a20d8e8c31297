import Admission
import RTCP
import WebRTCTransport
import Wire

/// What one subscriber was sent, and what its reports say came: its statistics, anew for each second.
///
/// Media only counts here; rates and loss are worked out once a second.
struct SubscriberMeter {
    private(set) var statistics: SubscriberStatistics
    /// All bytes since the second began.
    private(set) var byteCount = 0
    private var soundByteCount = 0
    /// When the second began; zero before the first.
    private var beginning = MonotonicTime.zero
    private var octetsBefore: (video: UInt32, sound: UInt32) = (0, 0)
    /// RTP packets since loss was worked out last, retransmissions not counted.
    private var packetCount = 0
    /// What receiver reports say is missing for good, by source, and of all when loss was worked out last.
    private var missing: [UInt32: Int64] = [:]
    private var missingBefore: Int64 = 0

    init(of entry: SubscriberEntry) {
        statistics = SubscriberStatistics(
            sessionID: entry.transport.id, stageID: entry.watched.stageID, subscriberID: entry.grant.participantID)
    }

    // MARK: - What is sent

    mutating func sent(byteCount: Int) { self.byteCount += byteCount }

    /// Counts as sound what was sent since `byteCount` was `before`.
    mutating func soundSent(since before: Int) { soundByteCount += byteCount - before }

    mutating func packetSent() { packetCount += 1 }

    // MARK: - What came

    /// A report about a source of ours came.
    mutating func note(_ block: ReportBlock) { missing[block.ssrc] = Int64(max(0, block.cumulativeLost)) }

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
        octetsBefore = octets
    }

    private mutating func measureLoss() {
        let missing = missing.values.reduce(0, +)
        let lost = max(0, missing - missingBefore)
        statistics.lossRatio = packetCount > 0 ? min(1, Double(lost) / Double(packetCount)) : nil
        (packetCount, missingBefore) = (0, missing)
    }

    private static let period: Duration = .seconds(1)
}
