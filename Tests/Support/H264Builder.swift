/// A sequence parameter set to be written; the defaults are Constrained Baseline 1280x720 without VUI.
public struct SPSBuilder: Sendable {
    public var profileIDC = 66
    public var constraintFlags = 0xC0
    public var levelIDC = 31
    public var id = 0
    public var chromaFormatIDC = 1
    public var pictureOrderCountType = 2
    public var maxNumRefFrames = 1
    public var width = 1_280
    public var height = 720
    public var isProgressive = true
    /// num_units_in_tick and time_scale.
    public var timing: (Int, Int)?
    public var maxNumReorderFrames: Int?
    public var hasHRD = false

    public init() {}

    private var hasChroma: Bool { [100, 110, 122, 244, 44].contains(profileIDC) }

    /// The NAL unit.
    public var bytes: [UInt8] {
        var bits = BitWriter()
        bits.write(profileIDC, bits: 8)
        bits.write(constraintFlags, bits: 8)
        bits.write(levelIDC, bits: 8)
        bits.unsigned(id)
        if hasChroma {
            bits.unsigned(chromaFormatIDC)
            if chromaFormatIDC == 3 { bits.flag(false) }
            bits.unsigned(0)
            bits.unsigned(0)
            bits.write(0, bits: 2)
        }
        bits.unsigned(0)  // log2_max_frame_num_minus4
        bits.unsigned(pictureOrderCountType)
        if pictureOrderCountType == 0 { bits.unsigned(2) }
        if pictureOrderCountType == 1 {
            bits.flag(false)
            for value in [-1, 2] { bits.signed(value) }
            bits.unsigned(2)
            for value in [3, -3] { bits.signed(value) }
        }
        bits.unsigned(maxNumRefFrames)
        bits.flag(false)
        writeSize(into: &bits)
        writeVUI(into: &bits)
        return bits.nalUnit(header: 0x67)
    }

    private func writeSize(into bits: inout BitWriter) {
        let unit = isProgressive ? 16 : 32
        let (codedWidth, codedHeight) = ((width + 15) / 16 * 16, (height + unit - 1) / unit * unit)
        bits.unsigned(codedWidth / 16 - 1)
        bits.unsigned(codedHeight / unit - 1)
        bits.flag(isProgressive)
        if !isProgressive { bits.flag(false) }
        bits.flag(true)
        let isCropped = codedWidth != width || codedHeight != height
        bits.flag(isCropped)
        guard isCropped else { return }
        let cropX = chromaFormatIDC == 1 || chromaFormatIDC == 2 ? 2 : 1
        let cropY = (chromaFormatIDC == 1 ? 2 : 1) * (isProgressive ? 1 : 2)
        for value in [0, (codedWidth - width) / cropX, 0, (codedHeight - height) / cropY] { bits.unsigned(value) }
    }

    private func writeVUI(into bits: inout BitWriter) {
        let isPresent = timing != nil || maxNumReorderFrames != nil
        bits.flag(isPresent)
        guard isPresent else { return }
        bits.flag(true)
        bits.write(255, bits: 8)  // extended sample aspect ratio
        bits.write(1, bits: 16)
        bits.write(1, bits: 16)
        bits.flag(false)
        bits.flag(true)  // video signal type
        bits.write(5 << 1, bits: 4)
        bits.flag(true)
        bits.write(0x010101, bits: 24)
        bits.flag(false)
        bits.flag(timing != nil)
        if let timing {
            bits.write(timing.0, bits: 32)
            bits.write(timing.1, bits: 32)
            bits.flag(true)
        }
        bits.flag(hasHRD)
        if hasHRD {
            bits.unsigned(0)
            bits.write(0, bits: 8)
            bits.unsigned(1_000)
            bits.unsigned(1_000)
            bits.flag(true)
            bits.write(0, bits: 20)
        }
        bits.flag(false)
        if hasHRD { bits.flag(false) }
        bits.flag(false)
        bits.flag(maxNumReorderFrames != nil)
        guard let maxNumReorderFrames else { return }
        bits.flag(true)
        for value in [0, 0, 11, 11, maxNumReorderFrames, maxNumReorderFrames + 1] { bits.unsigned(value) }
    }
}

/// A picture parameter set to be written; the defaults are what Baseline encoders send.
public struct PPSBuilder: Sendable {
    public var id = 0
    public var sequenceParameterSetID = 0
    public var isCABAC = false
    public var sliceGroupCount = 1
    public var sliceGroupMapType = 0
    public var hasRedundantPictures = false

    public init() {}

    /// The NAL unit.
    public var bytes: [UInt8] {
        var bits = BitWriter()
        bits.unsigned(id)
        bits.unsigned(sequenceParameterSetID)
        bits.flag(isCABAC)
        bits.flag(false)
        bits.unsigned(sliceGroupCount - 1)
        if sliceGroupCount > 1 { writeSliceGroups(into: &bits) }
        bits.unsigned(0)
        bits.unsigned(0)
        bits.write(0, bits: 3)
        for value in [-3, 0, 2] { bits.signed(value) }
        bits.write(0, bits: 2)
        bits.flag(hasRedundantPictures)
        return bits.nalUnit(header: 0x68)
    }

    private func writeSliceGroups(into bits: inout BitWriter) {
        bits.unsigned(sliceGroupMapType)
        switch sliceGroupMapType {
        case 0: for _ in 0..<sliceGroupCount { bits.unsigned(7) }
        case 2:
            for _ in 1..<sliceGroupCount {
                bits.unsigned(0)
                bits.unsigned(7)
            }
        case 3...5:
            bits.flag(true)
            bits.unsigned(9)
        case 6:
            bits.unsigned(15)
            for _ in 0...15 { bits.write(1, bits: sliceGroupCount > 4 ? 3 : sliceGroupCount > 2 ? 2 : 1) }
        default: break
        }
    }
}

/// A slice to be written: a real header and a body of pseudo-random bytes.
public struct SliceBuilder: Sendable {
    public var isIDR = false
    public var refIDC = 2
    public var firstMacroblock = 0
    /// slice_type, 0 to 9.
    public var type = 5
    public var pictureParameterSetID = 0
    public var byteCount = 100

    public init(isIDR: Bool = false, type: Int = 5, byteCount: Int = 100) {
        (self.isIDR, self.type, self.byteCount) = (isIDR, isIDR ? 7 : type, byteCount)
    }

    /// The NAL unit, `byteCount` bytes and at least the header.
    public var bytes: [UInt8] {
        var bits = BitWriter()
        bits.unsigned(firstMacroblock)
        bits.unsigned(type)
        bits.unsigned(pictureParameterSetID)
        bits.write(0, bits: 4)
        var unit = bits.nalUnit(header: UInt8(refIDC << 5 | (isIDR ? 5 : 1)))
        var generator = SplitMix64(seed: UInt64(byteCount))
        while unit.count < byteCount { unit.append(UInt8(truncatingIfNeeded: generator.next()) | 0x10) }
        return unit
    }
}
