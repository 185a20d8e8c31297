import H264

/// Watches the order of slices within a picture; packets lost or late keep it from judging.
struct PictureOrder {
    enum Observation { case newPicture, samePicture, earlierPicture }

    private var pictureTime: Int64?
    private var lastFirstMacroblock: UInt32 = 0
    private var isIntact = false
    /// Packets are missing, or late, since the picture before began.
    private(set) var hasGap = true
    private var lastSequenceNumber: Int64?

    /// A packet came, before its slices. When it does not follow the last one, the picture at hand says nothing.
    mutating func packetCame(_ sequenceNumber: Int64) {
        let isNext = lastSequenceNumber.map { sequenceNumber == $0 + 1 } ?? false
        let last = lastSequenceNumber ?? sequenceNumber
        lastSequenceNumber = last &- sequenceNumber > Self.maximumStepBack ? sequenceNumber : max(last, sequenceNumber)
        if !isNext { (isIntact, hasGap) = (false, true) }
    }

    /// A whole access unit came over TCP: nothing is ever missing in it.
    mutating func accessUnitBegan() { hasGap = false }

    func place(at time: Int64) -> Observation {
        if let pictureTime, time < pictureTime, pictureTime - time < Self.maximumLateness { return .earlierPicture }
        return time == pictureTime ? .samePicture : .newPicture
    }

    /// Whether the slice stands where arbitrary slice order alone would put it.
    mutating func isOutOfOrder(_ header: SliceHeader, at time: Int64, _ observation: Observation) -> Bool {
        defer { lastFirstMacroblock = header.firstMacroblock }
        if observation == .newPicture {
            pictureTime = time
            isIntact = !hasGap
            hasGap = false
            return isIntact && header.firstMacroblock != 0
        }
        // A second first slice is a second field or picture of the same time.
        return isIntact && header.firstMacroblock != 0 && header.firstMacroblock < lastFirstMacroblock
    }

    /// Slices this much older than the newest picture are late; older ones a jump of the media time.
    static let maximumLateness: Int64 = 90_000
    /// Packets this much further back are not late: an encoder that began anew has another source, whose numbers begin anywhere.
    static let maximumStepBack: Int64 = 3_000
}
