import StageHub
import Wire

/// Writes Opus packets to a publication as RTP packets, numbered without gaps (RFC 7587 §4.2: one Opus packet each).
final class AudioFrameWriter {
    private let publication: Publication
    private var nextSequenceNumber: Int64 = 0
    private var lastEnd: Int64?

    init(publication: Publication) { self.publication = publication }

    /// Forwards one Opus packet, valid until this returns.
    /// - Parameters:
    ///   - timestamp: of its first sample, less the encoder's look-ahead and the resampler's delay, in ticks of 48 kHz.
    ///   - tickCount: of the packet; a packet that does not start where the last one ended carries the marker (a talkspurt).
    func write(_ opus: UnsafeRawBufferPointer, at timestamp: Int64, tickCount: Int64, arrival: MonotonicTime) {
        let isStart = lastEnd.map { ($0 &- timestamp).magnitude > Self.continuityTolerance } ?? true
        lastEnd = timestamp &+ tickCount
        let packet = unsafe MediaPacket(
            sequenceNumber: nextSequenceNumber, timestamp: timestamp, marker: isStart, payload: opus)
        nextSequenceNumber += 1
        let run = MediaRun(track: .audio, isKeyframe: false, arrival: arrival)
        unsafe withUnsafePointer(to: packet) { unsafe publication.forward(UnsafeBufferPointer(start: $0, count: 1), of: run) }
    }

    /// 10 ms in ticks: less is rounding.
    static let continuityTolerance: UInt64 = 480
}
