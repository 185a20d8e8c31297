import H264

/// What a packet of video brings of a picture.
struct PicturePart {
    enum Content {
        case slice
        /// A sequence parameter set, and no slice.
        case sets
        /// SEI messages and the like.
        case other
    }

    var content = Content.other
    var hasIDR = false
    /// The first slice of an IDR picture is in it, or what came of that first; with what stands before it a decoder can start.
    var startsKeyframe = false
    /// The parameter sets describe another format than before.
    var hasNewFormat = false
    /// Of the layer, when the packet brought its SPS.
    var size: PictureSize?
}

extension PicturePart {
    /// - Parameter inspection: of the packet alone; whether a keyframe starts, and the format is new, its layer knows.
    init(_ inspection: PayloadInspection) {
        content = unsafe inspection.hasSlice ? .slice : inspection.sequenceSet != nil ? .sets : .other
        (hasIDR, size) = (inspection.hasIDR, inspection.pictureSize)
    }
}
