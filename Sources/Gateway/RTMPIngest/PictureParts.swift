import H264

/// What each message brings of a picture. FLV lets encoders send every NAL unit in a message of its own (FLV 10.1 §E.4.3). Drones
/// send SEI so, some relays each slice: one time then stands for one picture. A value.
struct PictureParts {
    enum Part {
        /// Another picture than the message before, or its beginning.
        case first
        /// More of what stands before the slices, or the first of them.
        case beforeSlices
        /// Slices behind others of the same picture.
        case furtherSlices
    }

    /// By what has been seen so far, more of the picture may follow the message at hand.
    private(set) var mayGoOn = false
    /// The message at hand counts as a picture: of several messages the one with the first slices.
    private(set) var isPicture = false
    private var slicesComeLater = false
    private var slicesComeApart = false
    private var time: Duration?
    private var hasSlices = false

    /// - Parameters:
    ///   - found: in the next message.
    ///   - time: of its picture.
    mutating func part(_ found: NALUnitList, at time: Duration) -> Part {
        let slices = Self.slices(of: found)
        let goesOn = time == self.time && (hasSlices ? slices.haveCome && !slices.beginPicture : true)
        let part: Part = !goesOn ? .first : hasSlices ? .furtherSlices : .beforeSlices
        if part == .beforeSlices { slicesComeLater = true }
        if part == .furtherSlices { slicesComeApart = true }
        (self.time, hasSlices) = (time, slices.haveCome)
        mayGoOn = hasSlices ? slicesComeApart : slicesComeLater
        isPicture = part != .furtherSlices && (hasSlices || !slicesComeLater)
        return part
    }

    /// Whether there are any, and whether the first of them is the first of its picture: first_mb_in_slice is 0, a bit of 1.
    private static func slices(of found: NALUnitList) -> (haveCome: Bool, beginPicture: Bool) {
        for index in unsafe found.units.indices {
            let unit = unsafe found.units[index]
            guard unsafe NALUnitHeader(unit[0]).type.hasSliceHeader else { continue }
            let second = unsafe unit.count > 1 ? unit[1] : 0
            return (true, second & 0x80 != 0)
        }
        return (false, false)
    }
}
