public import Wire

/// When a picture was made by a clock that several encoders may share, as SEI messages beside it say.
public enum PictureClock: Equatable, Sendable {
    /// When its program composed it: the time that OBS Studio puts beside its Broadcast Performance Metrics.
    case composed(WallTime)
    /// Its timecode, since midnight: the clock timestamp of a pic_timing message (clause D.1.3), less its days.
    case timecode(Duration)

    /// Looks into one NAL unit of type 6, header included; nil where it has no such message or a malformed one.
    ///
    /// Allocates nothing where it has none.
    /// - Parameter set: the one that the picture refers to; without it there is no timecode.
    public init?(inSEI nalUnit: RawSpan, of set: SequenceParameterSet?) {
        let clock: PictureClock? = unsafe nalUnit.withUnsafeBytes { bytes in
            var reader = unsafe SEIReader(bytes)
            return try? reader.readClock(set?.vui)
        }
        guard let clock else { return nil }
        self = clock
    }
}

/// What a sequence parameter set says of pic_timing messages.
struct PictureTimingForm: Equatable, Sendable, BitwiseCopyable {
    /// cpb_removal_delay and dpb_output_delay together.
    var delayBitCount: UInt8 = 0
    /// time_offset, which has 24 where no HRD says another length.
    var offsetBitCount: UInt8 = 24
}

extension SEIReader {
    private static let pictureTiming = 1
    private static let userData = 5
    private static let time: [16 of UInt8] = [
        0x0A, 0xEC, 0xFF, 0xE7, 0x52, 0x72, 0x4E, 0x2F, 0xA6, 0x2F, 0xD1, 0x9C, 0xD6, 0x1A, 0x93, 0xB5,
    ]
    /// Of a picture's times the one at which it was composed.
    private static let composition: UInt8 = 1
    /// NumClockTS by pic_struct (table D-1).
    private static let clockCounts: [9 of UInt8] = [1, 1, 1, 2, 2, 3, 3, 2, 3]

    fileprivate mutating func readClock(_ vui: VideoUsability?) throws(H264Error) -> PictureClock? {
        for _ in 0..<Self.maximumMessageCount {
            switch try nextMessage() {
            case Self.pictureTiming:
                if let form = vui?.pictureTiming, let timing = vui?.timing, let clock = try timecode(form, timing) {
                    return clock
                }
            case Self.userData:
                if let clock = try readComposition() { return clock }
            default: break
            }
        }
        return nil
    }

    private mutating func readComposition() throws(H264Error) -> PictureClock? {
        guard Self.isEqual(try readIdentifier(), Self.time) else { return nil }
        for _ in 0...(try readByte() & 0x0F) {
            var text: [UInt8] = []
            guard try readTime({ text.append($0) }) == Self.composition else { continue }
            return WallTime(rfc3339: text).map(PictureClock.composed)
        }
        return nil
    }

    /// The first clock timestamp of the message that begins here.
    private func timecode(
        _ form: PictureTimingForm, _ timing: VideoUsability.Timing
    ) throws(H264Error) -> PictureClock? {
        var bits = bits
        try bits.skipBits(Int(form.delayBitCount))
        let structure = Int(try bits.readBits(4))
        guard structure < Self.clockCounts.count else { return nil }
        for _ in 0..<Self.clockCounts[structure] where try bits.readBit() {
            return try bits.readTimecode(timing, offsetBitCount: Int(form.offsetBitCount))
        }
        return nil
    }
}

extension RBSPReader {
    /// A clock timestamp after its flag. GStreamer leaves out hours, minutes and seconds that are 0.
    fileprivate mutating func readTimecode(
        _ timing: VideoUsability.Timing, offsetBitCount: Int
    ) throws(H264Error) -> PictureClock {
        try skipBits(2)  // ct_type
        let isFieldBased = try readBit()
        try skipBits(5)  // counting_type
        let isFull = try readBit()
        try skipBits(2)  // discontinuity_flag, cnt_dropped_flag
        let frames = Int64(try readBits(8))
        let seconds = try readSeconds(isFull: isFull)
        let offset = Int64(try readBits(offsetBitCount))
        let isNegative = offsetBitCount > 0 && offset >> Int64(offsetBitCount - 1) == 1
        // Equation D-1, whose ticks are far below what overflows here: 2⁸ · 2³² · 2.
        let ticks =
            frames * Int64(timing.numUnitsInTick) * (isFieldBased ? 2 : 1) + offset - (isNegative ? 1 << offsetBitCount : 0)
        let (whole, part) = ticks.quotientAndRemainder(dividingBy: Int64(timing.timeScale))
        return .timecode(.seconds(seconds + whole) + .nanoseconds(part * 1_000_000_000 / Int64(timing.timeScale)))
    }

    private mutating func readSeconds(isFull: Bool) throws(H264Error) -> Int64 {
        if !isFull, try !readBit() { return 0 }
        let seconds = Int64(try readBits(6))
        if !isFull, try !readBit() { return seconds }
        let minutes = Int64(try readBits(6))
        if !isFull, try !readBit() { return minutes * 60 + seconds }
        let hours = Int64(try readBits(5))
        guard seconds < 60, minutes < 60, hours < 24 else { throw .valueOutOfRange }
        return hours * 3_600 + minutes * 60 + seconds
    }
}
