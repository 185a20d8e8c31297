import RTP
import StageHub
import Wire

/// A track's numbers toward one router: the publisher's plus constants, so that gaps stay gaps (DESIGN.md 6.2).
///
/// Within one announce the extended sequence number never goes back: when the publisher changes or jumps, the constants are
/// chosen anew and the output goes on behind the highest sent, at the RTP time that has passed meanwhile.
struct TrackNumbering {
    /// A step of the publisher's sequence number beyond this is another sequence, not loss.
    static let maximumStep: UInt64 = 3000

    let clockRate: Int64
    private var sequenceConstant: Int64 = 0
    private(set) var timestampConstant: Int64 = 0
    private let firstSequenceNumber: Int64
    private let firstTimestamp: Int64
    private var newest: (input: Int64, output: Int64, timestamp: Int64, arrival: MonotonicTime)?
    private var startsAnew = true

    /// - Parameters: random starts (RFC 3550 §5.1); the sequence number's upper half is left free so that SRTP's rollover
    ///   counter is 0 on both sides, and late packets before the first do not go below zero.
    init(clockRate: Int64, firstSequenceNumber: UInt16, firstTimestamp: UInt32) {
        self.clockRate = clockRate
        self.firstSequenceNumber = Int64(firstSequenceNumber & 0x7FFF | 0x1000)
        self.firstTimestamp = Int64(firstTimestamp)
    }

    /// The highest extended sequence number sent.
    var highestSent: Int64? { newest?.output }

    /// The publisher's numbers begin anew with the next packet.
    mutating func restart() { startsAnew = true }

    /// Whether the publisher's number jumps to another sequence by itself; the caller asks for a keyframe then.
    func isJump(_ sequenceNumber: Int64) -> Bool {
        guard !startsAnew, let newest else { return false }
        return (sequenceNumber &- newest.input).magnitude > Self.maximumStep
    }

    mutating func number(_ sequenceNumber: Int64, _ timestamp: Int64, arrival: MonotonicTime) -> (Int64, Int64) {
        if startsAnew || isJump(sequenceNumber) { chooseConstants(sequenceNumber, timestamp, arrival) }
        let output = sequenceNumber &+ sequenceConstant
        let outputTimestamp = timestamp &+ timestampConstant
        if output >= newest?.output ?? .min { newest = (sequenceNumber, output, outputTimestamp, arrival) }
        return (output, outputTimestamp)
    }

    private mutating func chooseConstants(_ sequenceNumber: Int64, _ timestamp: Int64, _ arrival: MonotonicTime) {
        startsAnew = false
        guard let newest else {
            sequenceConstant = firstSequenceNumber &- sequenceNumber
            timestampConstant = firstTimestamp &- timestamp
            return
        }
        sequenceConstant = newest.output + 1 &- sequenceNumber
        let passed = max(1, Int64((arrival - newest.arrival).inSeconds * Double(clockRate)))
        timestampConstant = newest.timestamp &+ passed &- timestamp
    }
}
