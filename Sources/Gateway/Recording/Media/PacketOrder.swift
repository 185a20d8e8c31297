/// Puts one track's packets in the order of their numbers, and waits a while for those that are late. A value.
///
/// What comes in order passes at once, uncopied. A gap is given up when so much came after it that nobody will fill it any more;
/// the bounds are counts of packets, because the writer reads in batches.
struct PacketOrder {
    /// A packet whose payload lies in somebody else's bytes, valid for the call that hands it over.
    @safe struct Packet {
        var sequenceNumber: Int64
        var timestamp: Int64
        var marker: Bool
        var payload: UnsafeRawBufferPointer
        /// Packets before it never came.
        var followsGap = false
    }

    private struct Kept {
        var sequenceNumber: Int64
        var timestamp: Int64
        var marker: Bool
        var payload: [UInt8]
    }

    private var next: Int64?
    /// By number, rising.
    private var kept: [Kept] = []
    private let maximumKept: Int
    private let maximumWait: Int64

    /// - Parameters:
    ///   - maximumKept: packets that wait behind a gap.
    ///   - maximumWait: the time that they may wait by their own timestamps, in ticks.
    init(maximumKept: Int, maximumWait: Int64) { (self.maximumKept, self.maximumWait) = (maximumKept, maximumWait) }

    /// Numbers begin anew; what waits goes first.
    mutating func restart(_ deliver: (Packet) -> Void) {
        while !kept.isEmpty { giveUp(deliver) }
        next = nil
    }

    mutating func take(_ packet: Packet, _ deliver: (Packet) -> Void) {
        guard let expected = next else { return pass(packet, deliver) }
        let step = packet.sequenceNumber &- expected
        if step.magnitude > Self.maximumStep {
            restart(deliver)
            var first = packet
            first.followsGap = true
            return pass(first, deliver)
        }
        if step == 0 { return pass(packet, deliver) }
        guard step > 0 else { return }
        keep(packet)
        while let first = kept.first, isOver(since: first, packet) { giveUp(deliver) }
    }

    private func isOver(since first: Kept, _ packet: Packet) -> Bool {
        kept.count > maximumKept || packet.timestamp &- first.timestamp > maximumWait
    }

    private mutating func pass(_ packet: Packet, _ deliver: (Packet) -> Void) {
        next = packet.sequenceNumber &+ 1
        deliver(packet)
        releaseKept(followsGap: false, deliver)
    }

    /// What is next goes on without what is missing before it.
    private mutating func giveUp(_ deliver: (Packet) -> Void) {
        guard let first = kept.first else { return }
        next = first.sequenceNumber
        releaseKept(followsGap: true, deliver)
    }

    private mutating func releaseKept(followsGap: Bool, _ deliver: (Packet) -> Void) {
        var followsGap = followsGap
        while let first = kept.first, first.sequenceNumber == next {
            kept.removeFirst()
            next = first.sequenceNumber &+ 1
            unsafe first.payload.withUnsafeBytes { bytes in
                deliver(
                    unsafe Packet(
                        sequenceNumber: first.sequenceNumber, timestamp: first.timestamp, marker: first.marker, payload: bytes,
                        followsGap: followsGap))
            }
            followsGap = false
        }
    }

    private mutating func keep(_ packet: Packet) {
        let index = kept.lastIndex { $0.sequenceNumber <= packet.sequenceNumber }
        if let index, kept[index].sequenceNumber == packet.sequenceNumber { return }
        kept.insert(
            Kept(
                sequenceNumber: packet.sequenceNumber, timestamp: packet.timestamp, marker: packet.marker,
                payload: unsafe Array(packet.payload)), at: index.map { $0 + 1 } ?? 0)
    }

    /// A step beyond this is another sequence, not loss.
    private static let maximumStep: UInt64 = 3_000
}
