import RTP
public import Wire

/// A track's numbers toward one receiver: the publisher's plus constants, so that gaps stay gaps (docs/design.md 6.2).
///
/// The extended sequence number never goes back: when the publisher changes or jumps, the constants are chosen anew, and the
/// output goes on behind the highest sent, at the RTP time that has passed meanwhile. Sequence numbers with another encoder from
/// 60,000 on, where 102 was lost:
///
///     publisher's   100    101    103    60,000   60,001
///     sent        4,096  4,097  4,099     4,100    4,101
public struct TrackNumbering {
    /// A step of the publisher's sequence number beyond this is another sequence, not loss.
    public static let maximumStep: UInt64 = 3000

    public let clockRate: Int64
    @usableFromInline var sequenceConstant: Int64 = 0
    /// What is added to the publisher's timestamps.
    public internal(set) var timestampConstant: Int64 = 0
    /// The first packet's.
    public let firstSequenceNumber: Int64
    private let firstTimestamp: Int64
    /// The packet with the highest number sent: the publisher's number, ours, and our timestamp.
    @usableFromInline var newest: (input: Int64, output: Int64, timestamp: Int64, arrival: MonotonicTime)?
    /// With the next packet the constants are chosen anew.
    @usableFromInline var startsAnew = true
    /// From the next packet's clock to that of the packets before it; nil where only the time that passed tells.
    private var shift: Int64?
    /// The first number sent since the constants were chosen.
    private var firstSent: Int64 = 0
    /// There was a sequence before.
    private var hasChanged = false

    /// - Parameters: random starts (RFC 3550 §5.1); the sequence number's upper half is left free so that SRTP's rollover
    ///   counter is 0 on both sides, and late packets before the first do not go below zero.
    public init(clockRate: Int64, firstSequenceNumber: UInt16, firstTimestamp: UInt32) {
        self.clockRate = clockRate
        self.firstSequenceNumber = Int64(firstSequenceNumber & 0x7FFF | 0x1000)
        self.firstTimestamp = Int64(firstTimestamp)
    }

    /// The highest extended sequence number sent.
    public var highestSent: Int64? { newest?.output }

    /// The RTP time of the packet with the highest number; 0 before the first.
    public var newestTimestamp: Int64 { newest?.timestamp ?? 0 }

    /// Whether a number that `number` gave is free to be sent: of a packet that the first one of its sequence overtook it may be
    /// one of the sequence before.
    public func isFree(_ output: Int64) -> Bool { !hasChanged || output >= firstSent }

    /// The publisher's numbers begin anew with the next packet.
    public mutating func restart() { (startsAnew, shift) = (true, nil) }

    /// The next packet is of another layer of the same publisher, with numbers of its own.
    /// - Parameter shift: what makes its timestamps those of the layer before; nil when that is not known.
    public mutating func change(shift: Int64?) {
        // Where no packet has come since the last change, both shifts together lead to the packets before.
        let former = startsAnew ? self.shift : 0
        startsAnew = true
        guard let former, let shift else { return self.shift = nil }
        self.shift = former &+ shift
    }

    /// Whether the publisher's number jumps to another sequence by itself; the caller asks for a keyframe then.
    @inlinable
    public func isJump(_ sequenceNumber: Int64) -> Bool {
        guard !startsAnew, let newest else { return false }
        return (sequenceNumber &- newest.input).magnitude > Self.maximumStep
    }

    /// Numbers a packet of the publisher; after a jump or a change the constants are chosen anew.
    /// - Returns: the extended sequence number and the unwrapped RTP time to send it with.
    @inlinable
    public mutating func number(_ sequenceNumber: Int64, _ timestamp: Int64, arrival: MonotonicTime) -> (Int64, Int64) {
        if startsAnew || isJump(sequenceNumber) { chooseConstants(sequenceNumber, timestamp, arrival) }
        let output = sequenceNumber &+ sequenceConstant
        let outputTimestamp = timestamp &+ timestampConstant
        if output >= newest?.output ?? .min { newest = (sequenceNumber, output, outputTimestamp, arrival) }
        return (output, outputTimestamp)
    }

    /// The publisher's number of the packet that was sent as `sequenceNumber`.
    /// - Returns: nil when no packet since the constants were chosen can have had it.
    public func publisherNumber(ofSent sequenceNumber: UInt16) -> Int64? {
        guard let newest else { return nil }
        let distance = Int64(Int16(bitPattern: sequenceNumber &- UInt16(truncatingIfNeeded: newest.output)))
        let output = newest.output + distance
        guard distance <= 0, output >= firstSent else { return nil }
        return output &- sequenceConstant
    }

    @usableFromInline
    mutating func chooseConstants(_ sequenceNumber: Int64, _ timestamp: Int64, _ arrival: MonotonicTime) {
        let shift = shift
        (startsAnew, self.shift) = (false, nil)
        guard let newest else {
            firstSent = firstSequenceNumber
            sequenceConstant = firstSequenceNumber &- sequenceNumber
            timestampConstant = firstTimestamp &- timestamp
            return
        }
        (firstSent, hasChanged) = (newest.output + 1, true)
        sequenceConstant = newest.output + 1 &- sequenceNumber
        let passed = max(1, ClockRate.ticks(ofNanoseconds: (arrival - newest.arrival).nanoseconds, at: clockRate))
        let carriedOver = shift.map { timestamp &+ $0 &+ timestampConstant } ?? newest.timestamp &+ passed
        timestampConstant = max(carriedOver, newest.timestamp &+ 1) &- timestamp
    }
}
