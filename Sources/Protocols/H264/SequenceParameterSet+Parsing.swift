extension SequenceParameterSet {
    /// Parses one NAL unit of type 7, its header byte included.
    ///
    /// A broken VUI is left out, as decoders do: pictures do not depend on it.
    /// - Throws: `.unexpectedType`, `.tooLong`, `.truncated`, `.codeTooLong`, `.valueOutOfRange`.
    public init(parsing nalUnit: RawSpan) throws(H264Error) {
        self = try nalUnit.withUnsafeBytes { (bytes) throws(H264Error) in try SequenceParameterSet(bytes) }
    }

    private init(_ bytes: UnsafeRawBufferPointer) throws(H264Error) {
        guard let first = bytes.first else { throw .truncated }
        guard first & 0x9F == NALUnitType.sequenceParameterSet.rawValue else { throw .unexpectedType(first & 0x1F) }
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong }
        var reader = RBSPReader(bytes)
        profileIDC = UInt8(try reader.readBits(8))
        constraintFlags = UInt8(try reader.readBits(8))
        levelIDC = UInt8(try reader.readBits(8))
        id = UInt8(try reader.readUnsigned(upTo: 31))
        let chroma = Self.hasChromaFormat(profileIDC) ? try ChromaFormat(from: &reader) : ChromaFormat()
        (chromaFormatIDC, bitDepthLuma) = (chroma.formatIDC, chroma.bitDepthLuma)
        hasSeparateColourPlanes = chroma.hasSeparatePlanes
        frameNumBitCount = UInt8(try reader.readUnsigned(upTo: 12)) + 4
        try Self.skipPictureOrderCount(&reader)
        maxNumRefFrames = try reader.readUnsigned(upTo: 16)
        _ = try reader.readBit()  // gaps_in_frame_num_value_allowed_flag
        let size = try CodedSize(from: &reader, chroma: chroma)
        (frameMbsOnly, width, height) = (size.frameMbsOnly, size.width, size.height)
        vui = try reader.readBit() ? (try? VideoUsability(from: &reader)) : nil
    }

    /// Profiles whose sets carry chroma_format_idc (clause 7.3.2.1.1).
    private static func hasChromaFormat(_ profileIDC: UInt8) -> Bool {
        switch profileIDC {
        case 100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135: true
        default: false
        }
    }

    private static func skipPictureOrderCount(_ reader: inout RBSPReader) throws(H264Error) {
        switch try reader.readUnsigned(upTo: 2) {
        case 0: _ = try reader.readUnsigned(upTo: 12)
        case 1:
            _ = try reader.readBit()
            _ = try reader.readSigned()
            _ = try reader.readSigned()
            for _ in 0..<(try reader.readUnsigned(upTo: 255)) { _ = try reader.readSigned() }
        default: break
        }
    }
}

/// The chroma and scaling part of the high profiles' sets.
private struct ChromaFormat {
    var formatIDC: UInt8 = 1
    var hasSeparatePlanes = false
    var bitDepthLuma: UInt8 = 8

    init() {}

    init(from reader: inout RBSPReader) throws(H264Error) {
        formatIDC = UInt8(try reader.readUnsigned(upTo: 3))
        if formatIDC == 3 { hasSeparatePlanes = try reader.readBit() }
        bitDepthLuma = UInt8(try reader.readUnsigned(upTo: 6)) + 8
        _ = try reader.readUnsigned(upTo: 6)  // bit_depth_chroma_minus8
        _ = try reader.readBit()  // qpprime_y_zero_transform_bypass_flag
        guard try reader.readBit() else { return }
        for list in 0..<(formatIDC == 3 ? 12 : 8) where try reader.readBit() {
            try Self.skipScalingList(&reader, size: list < 6 ? 16 : 64)
        }
    }

    static func skipScalingList(_ reader: inout RBSPReader, size: Int) throws(H264Error) {
        var last: Int64 = 8
        for _ in 0..<size {
            let next = (last + (try reader.readSigned()) + 256) & 255
            if next == 0 { return }
            last = next
        }
    }
}

/// Picture size in samples after cropping (equations 7-13 to 7-22). Every product stays far below `Int.max`.
private struct CodedSize {
    var frameMbsOnly: Bool
    var width: Int
    var height: Int

    init(from reader: inout RBSPReader, chroma: ChromaFormat) throws(H264Error) {
        let maximumMbs = UInt32(SequenceParameterSet.maximumSide / 16)
        let widthInMbs = Int(try reader.readUnsigned(upTo: maximumMbs - 1)) + 1
        let heightInMapUnits = Int(try reader.readUnsigned(upTo: maximumMbs - 1)) + 1
        frameMbsOnly = try reader.readBit()
        let fieldFactor = frameMbsOnly ? 1 : 2
        if !frameMbsOnly { _ = try reader.readBit() }  // mb_adaptive_frame_field_flag
        _ = try reader.readBit()  // direct_8x8_inference_flag
        (width, height) = (16 * widthInMbs, 16 * heightInMapUnits * fieldFactor)
        guard height <= SequenceParameterSet.maximumSide else { throw .valueOutOfRange }
        guard try reader.readBit() else { return }
        let isSubsampled = !chroma.hasSeparatePlanes && chroma.formatIDC != 0
        let unitX = isSubsampled && chroma.formatIDC < 3 ? 2 : 1
        let unitY = (isSubsampled && chroma.formatIDC == 1 ? 2 : 1) * fieldFactor
        let left = Int(try reader.readUnsigned())
        let right = Int(try reader.readUnsigned())
        let top = Int(try reader.readUnsigned())
        let bottom = Int(try reader.readUnsigned())
        width -= unitX * (left + right)
        height -= unitY * (top + bottom)
        guard width > 0, height > 0 else { throw .valueOutOfRange }
    }
}
