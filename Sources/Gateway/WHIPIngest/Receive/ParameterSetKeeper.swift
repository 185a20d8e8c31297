import StageHub

/// The stream's latest SPS and PPS; tells when they change, so that the router's description follows.
struct ParameterSetKeeper {
    private var sequenceSet: [UInt8] = []
    private var pictureSet: [UInt8] = []

    var isComplete: Bool { !sequenceSet.isEmpty && !pictureSet.isEmpty }

    /// Nil while one of them is missing.
    var format: TrackFormat? { isComplete ? .h264(sps: sequenceSet, pps: pictureSet) : nil }

    /// - Returns: whether a set differs from the one before and both are there; nothing is copied otherwise.
    mutating func note(_ inspection: PayloadInspection) -> Bool {
        var isChanged = false
        if let set = unsafe inspection.sequenceSet, set.count <= Self.maximumByteCount, unsafe !set.elementsEqual(sequenceSet) {
            sequenceSet = unsafe Array(set)
            isChanged = true
        }
        if let set = unsafe inspection.pictureSet, set.count <= Self.maximumByteCount, unsafe !set.elementsEqual(pictureSet) {
            pictureSet = unsafe Array(set)
            isChanged = true
        }
        return isChanged && isComplete
    }

    private static let maximumByteCount = 1_024
}
