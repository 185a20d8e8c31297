import H264

/// A small NAL unit that comes in FU-A fragments: parameter sets and SEI are put together, of slices the header at most.
struct FragmentedUnit {
    private(set) var bytes: [UInt8] = []
    /// Of the packet that goes on with it, whatever else comes in between; nil while none is wanted.
    private var nextSequenceNumber: Int64?

    static let maximumByteCount = SequenceParameterSet.maximumByteCount

    /// Adds a fragment; false where it does not go on with this unit, or there is no room.
    mutating func add(_ fragment: FUAFragment, _ sequenceNumber: Int64) -> Bool {
        if fragment.isStart {
            bytes.removeAll(keepingCapacity: true)
            bytes.append(fragment.header.byte)
        } else if sequenceNumber != nextSequenceNumber || bytes.first != fragment.header.byte {
            return false
        }
        guard unsafe bytes.count + fragment.body.count <= Self.maximumByteCount else {
            close()
            return false
        }
        unsafe bytes.append(contentsOf: fragment.body)
        nextSequenceNumber = fragment.isEnd ? nil : sequenceNumber &+ 1
        return true
    }

    /// The rest is not wanted.
    mutating func close() { nextSequenceNumber = nil }
}
