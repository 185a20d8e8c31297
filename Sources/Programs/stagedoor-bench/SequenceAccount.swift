/// What happened to the packets of one RTP source, by their sequence numbers (RFC 3550 appendix A.1).
struct SequenceAccount {
    /// How far back a late packet is still told from a duplicate.
    static let window = 1_024

    private(set) var received = 0
    private(set) var duplicates = 0
    private(set) var reordered = 0
    private var first: Int?
    private var highest = 0
    private var isSeen = [Bool](repeating: false, count: window)

    /// Numbers that never came, up to the highest one.
    var lost: Int { first.map { highest - $0 + 1 - received } ?? 0 }

    mutating func add(_ sequenceNumber: UInt16) {
        guard let first else {
            (first, highest, received) = (Int(sequenceNumber), Int(sequenceNumber), 1)
            isSeen[highest % Self.window] = true
            return
        }
        let number = highest + Int(Int16(truncatingIfNeeded: Int(sequenceNumber) - highest))
        if number > highest {
            for skipped in max(highest + 1, number - Self.window + 1)...number { isSeen[skipped % Self.window] = false }
            highest = number
        } else if number < first || number <= highest - Self.window || isSeen[number % Self.window] {
            duplicates += 1
            return
        } else {
            reordered += 1
        }
        isSeen[number % Self.window] = true
        received += 1
    }
}
