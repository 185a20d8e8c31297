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
    public var sliceGroupCount = 1
    public var sliceGroupMapType = 0
    public var hasRedundantPictures = false

    public init() {}

    /// The NAL unit.
    public var bytes: [UInt8] {
        var bits = BitWriter()
        bits.unsigned(id)
        bits.unsigned(sequenceParameterSetID)
        bits.write(0, bits: 2)
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

/// A message of Broadcast Performance Metrics as OBS writes it: a time as text, then counters, emulation prevention put in.
public struct PerformanceBuilder: Sendable {
    public static let session: [UInt8] = [
        0xCA, 0x60, 0xE7, 0x1C, 0x6A, 0x8B, 0x43, 0x88, 0xA3, 0x77, 0x15, 0x1D, 0xF7, 0xBF, 0x8A, 0xC2,
    ]
    public static let rendition: [UInt8] = [
        0xF1, 0xFB, 0xC1, 0xD5, 0x10, 0x1E, 0x4F, 0xB5, 0xA6, 0x1E, 0xB8, 0xCE, 0x3C, 0x07, 0xB8, 0xC0,
    ]

    public var identifier: [UInt8]
    public var counters: [(tag: UInt8, value: UInt32)]
    public var time = Array("2024-05-31T12:26:03.591Z".utf8) + [0]

    public init(_ identifier: [UInt8], _ counters: [(UInt8, UInt32)]) {
        (self.identifier, self.counters) = (identifier, counters.map { ($0, $1) })
    }

    /// The NAL unit.
    public var bytes: [UInt8] {
        var payload = identifier + [0, 1, 4] + time + [UInt8(counters.count - 1)]
        for (tag, value) in counters { payload += [tag] + (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        return [6] + Self.escaped([5, UInt8(payload.count)] + payload + [0x80])
    }

    private static func escaped(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for byte in bytes {
            if result.suffix(2) == [0, 0], byte <= 3 { result.append(3) }
            result.append(byte)
        }
        return result
    }
}
