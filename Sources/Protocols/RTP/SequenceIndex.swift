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
