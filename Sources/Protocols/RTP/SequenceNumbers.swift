/// Unwraps the 16-bit sequence number to 64 bits (RFC 3550 §A.1): the nearest extended number to the highest seen.
public struct ExtendedSequenceNumber: Sendable {
    /// The highest number seen; nil before the first.
    public private(set) var highest: Int64?

    /// Before the first packet.
    public init() {}

    /// The extended number of `sequenceNumber`; `highest` rises when it is newer. The first one stays as it is.
    public mutating func unwrap(_ sequenceNumber: UInt16) -> Int64 {
        guard let highest else {
            self.highest = Int64(sequenceNumber)
            return Int64(sequenceNumber)
        }
        let extended = highest + Int64(Int16(bitPattern: sequenceNumber &- UInt16(truncatingIfNeeded: highest)))
        if extended > highest { self.highest = extended }
        return extended
    }
}

/// Where packets lie by their sequence number: one look, whether the number is found or not.
///
/// Numbers a whole `capacity` apart share a place, and the one noted last has it.
public struct SequenceIndex: Sendable {
    private struct Place {
        var sequenceNumber: Int64 = .min
        var position = 0
    }

    private var places: [Place]

    /// - Parameter capacity: a power of two, more than the packets that are kept.
    public init(capacity: Int) {
        precondition(capacity > 0 && capacity & (capacity - 1) == 0, "a power of two, so that a mask finds the place")
        places = Array(repeating: Place(), count: capacity)
    }

    /// Remembers where the packet lies.
    public mutating func note(_ sequenceNumber: Int64, at position: Int) {
        places[place(of: sequenceNumber)] = Place(sequenceNumber: sequenceNumber, position: position)
    }

    /// What was noted of the number; the caller knows whether the packet is still there.
    public func position(of sequenceNumber: Int64) -> Int? {
        let place = places[place(of: sequenceNumber)]
        return place.sequenceNumber == sequenceNumber ? place.position : nil
    }

    private func place(of sequenceNumber: Int64) -> Int { Int(truncatingIfNeeded: sequenceNumber) & (places.count - 1) }
}
