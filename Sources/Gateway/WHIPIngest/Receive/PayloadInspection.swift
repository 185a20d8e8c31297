import H264

/// What the NAL units of an H.264 payload say about keyframes, and the parameter sets among them.
@safe struct PayloadInspection {
    /// The start of an IDR slice is in it.
    let hasIDR: Bool
    /// An IDR slice is in it, or any part of one.
    let isOfIDR: Bool
    /// A slice is in it, or a part of one.
    private(set) var hasSlice = false
    /// Where the sets lie in the payload.
    private(set) var sequenceSet: UnsafeRawBufferPointer?
    private(set) var pictureSet: UnsafeRawBufferPointer?
    var hasParameterSet: Bool { unsafe sequenceSet != nil || pictureSet != nil }
    /// By the sequence set; nil when there is none, or none that can be read.
    var pictureSize: PictureSize? {
        guard let set = unsafe sequenceSet else { return nil }
        return unsafe try? SequenceParameterSet(parsing: set.bytes).pictureSize
    }

    init(_ found: NALUnitList) {
        isOfIDR = found.hasIDR
        if let fragment = found.fragment {
            (hasIDR, hasSlice) = (fragment.isStart && found.hasIDR, fragment.header.type.hasSliceHeader)
            return
        }
        hasIDR = found.hasIDR
        for index in unsafe found.units.indices {
            let unit = unsafe found.units[index]
            let type = unsafe NALUnitHeader(unit[0]).type
            switch type {
            case .sequenceParameterSet: unsafe sequenceSet = unsafe unit
            case .pictureParameterSet: unsafe pictureSet = unsafe unit
            default: if type.hasSliceHeader { hasSlice = true }
            }
        }
    }
}
