/// Unwraps the 16-bit sequence number to 64 bits (RFC 3550 §A.1): the nearest extended number to the highest seen.
public struct ExtendedSequenceNumber: Sendable {
    /// The highest number seen; nil before the first.
    public private(set) var highest: Int64?

    public init() {}

    /// The extended number of `sequenceNumber`; `highest` rises when it is newer. The first one stays as it is.
    public mutating func unwrap(_ sequenceNumber: UInt16) -> Int64 {
        guard let highest else {
            self.highest = Int64(sequenceNumber)
            return Int64(sequenceNumber)
        }
        let extended = peek(sequenceNumber, near: highest)
        if extended > highest { self.highest = extended }
        return extended
    }

    /// The extended number of a 16-bit one that another party wrote (NACK, RR), without moving `highest`.
    public func extend(_ sequenceNumber: UInt16) -> Int64 {
        peek(sequenceNumber, near: highest ?? Int64(sequenceNumber))
    }

    private func peek(_ sequenceNumber: UInt16, near reference: Int64) -> Int64 {
        reference + Int64(Int16(bitPattern: sequenceNumber &- UInt16(truncatingIfNeeded: reference)))
    }
}
