import H264

/// A small NAL unit that comes in FU-A fragments: parameter sets and SEI are put together, of slices the header at most.
struct FragmentedUnit {
    private(set) var bytes: [UInt8] = []
    private(set) var isOpen = false

    static let maximumByteCount = SequenceParameterSet.maximumByteCount

    /// Adds a fragment; true when the unit is whole.
    mutating func add(_ fragment: FUAFragment) -> Bool {
        if fragment.isStart {
            bytes.removeAll(keepingCapacity: true)
            bytes.append(fragment.header.byte)
            isOpen = true
        }
        guard isOpen, unsafe bytes.count + fragment.body.count <= Self.maximumByteCount, bytes.first == fragment.header.byte
        else {
            isOpen = false
            return false
        }
        unsafe bytes.append(contentsOf: fragment.body)
        if fragment.isEnd { isOpen = false }
        return fragment.isEnd
    }

    /// A packet between the fragments was lost, or the rest is not wanted.
    mutating func interrupt() { isOpen = false }
}
