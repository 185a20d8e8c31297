import H264

/// What the NAL units of an H.264 payload say about keyframes, and the parameter sets among them.
struct PayloadInspection {
    /// A sequence parameter set or the start of an IDR slice is in it.
    private(set) var startsKeyframe = false
    let hasIDR: Bool
    /// Where the sets lie in the payload.
    private(set) var sequenceSet: UnsafeRawBufferPointer?
    private(set) var pictureSet: UnsafeRawBufferPointer?
    var hasParameterSet: Bool { sequenceSet != nil || pictureSet != nil }

    init(_ found: NALUnitList) {
        guard found.fragment?.isStart ?? true else {
            hasIDR = false
            return
        }
        hasIDR = found.hasIDR
        startsKeyframe = hasIDR || found.fragment?.header.type == .sequenceParameterSet
        for unit in found.units {
            switch NALUnitHeader(unit[0]).type {
            case .sequenceParameterSet: (startsKeyframe, sequenceSet) = (true, unit)
            case .pictureParameterSet: pictureSet = unit
            default: break
            }
        }
    }
}
