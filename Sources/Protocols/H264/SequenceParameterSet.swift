import Wire

/// A sequence parameter set (clause 7.3.2.1.1): profile, size and timing of the pictures that refer to it. Holds no bytes.
///
///     let set = try SequenceParameterSet(parsing: nalUnit)
///     print(SequenceParameterSet.profileName(set.profileIDC), set.width, set.height, set.vui?.timing?.frameRate ?? 0)
public struct SequenceParameterSet: Equatable, Sendable, BitwiseCopyable {
    /// profile_idc; `profileName(_:)` says what encoders call it.
    public var profileIDC: UInt8
    /// constraint_set0_flag in the top bit, as in the second byte of profile-level-id (RFC 6184 §8.1).
    public var constraintFlags: UInt8
    /// level_idc: ten times the level, 31 for 3.1.
    public var levelIDC: UInt8
    /// seq_parameter_set_id, 0 to 31.
    public var id: UInt8
    /// 0 monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
    public var chromaFormatIDC: UInt8 = 1
    /// Bits of a luma sample, 8 to 14.
    public var bitDepthLuma: UInt8 = 8
    /// frame_mbs_only_flag: no fields, no interlaced frames.
    public var frameMbsOnly: Bool
    /// In samples, after cropping; 1 to 16,384.
    public var width: Int
    /// In samples, after cropping; 1 to 16,384.
    public var height: Int
    /// nil when it is absent or broken.
    public var vui: VideoUsability?

    /// Six hex digits: profile_idc, constraint flags, level_idc (RFC 6184 §8.1).
    public var profileLevelID: String { String(hexadecimal: [profileIDC, constraintFlags, levelIDC]) }

    /// Baseline with constraint_set1_flag: what every WebRTC receiver decodes.
    public var isConstrainedBaseline: Bool { profileIDC == Self.baseline && constraintFlags & 0x40 != 0 }

    /// What encoders call a profile_idc in their settings (annex A.2).
    public static func profileName(_ idc: UInt8) -> String {
        switch idc {
        case baseline: "Baseline"
        case main: "Main"
        case extended: "Extended"
        case high: "High"
        case 110: "High 10"
        case 122: "High 4:2:2"
        case 244: "High 4:4:4"
        default: "unknown (\(idc))"
        }
    }

    /// profile_idc of Baseline.
    public static let baseline: UInt8 = 66
    /// profile_idc of Main.
    public static let main: UInt8 = 77
    /// profile_idc of Extended.
    public static let extended: UInt8 = 88
    /// profile_idc of High.
    public static let high: UInt8 = 100

    /// The widest and tallest picture we describe: beyond every level of the specification.
    public static let maximumSide = 16_384
    /// Longer ones are refused; with all scaling lists and both HRDs a set stays below 2 KiB.
    public static let maximumByteCount = 4_096
}

/// The parts of the video usability information (annex E) that say when pictures are shown.
public struct VideoUsability: Equatable, Sendable, BitwiseCopyable {
    /// num_units_in_tick and time_scale; nil without timing_info_present_flag or with a zero in it.
    public var timing: Timing?
    /// How pic_timing messages are written; nil where there are none with a time.
    var pictureTiming: PictureTimingForm?

    /// How long a frame lasts, as the encoder says it.
    public struct Timing: Equatable, Sendable, BitwiseCopyable {
        /// num_units_in_tick: not 0.
        public var numUnitsInTick: UInt32
        /// time_scale, units a second: not 0.
        public var timeScale: UInt32

        /// Frames a second: a frame lasts two ticks (equation D-2).
        public var frameRate: Double { Double(timeScale) / (2 * Double(numUnitsInTick)) }
    }
}

extension SequenceParameterSet {
    /// Parses one NAL unit of type 7, its header byte included.
    ///
    /// A broken VUI is left out, as decoders do: pictures do not depend on it.
    /// - Throws: `.unexpectedType`, `.tooLong`, `.truncated`, `.codeTooLong`, `.valueOutOfRange`.
    public init(parsing nalUnit: RawSpan) throws(H264Error) {
        self = unsafe try nalUnit.withUnsafeBytes { (bytes) throws(H264Error) in unsafe try SequenceParameterSet(bytes) }
    }

    private init(_ bytes: UnsafeRawBufferPointer) throws(H264Error) {
        guard let first = unsafe bytes.first else { throw .truncated }
        guard first & 0x9F == NALUnitType.sequenceParameterSet.rawValue else { throw .unexpectedType(first & 0x1F) }
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong }
        var reader = unsafe RBSPReader(bytes)
        profileIDC = UInt8(try reader.readBits(8))
        constraintFlags = UInt8(try reader.readBits(8))
        levelIDC = UInt8(try reader.readBits(8))
        id = UInt8(try reader.readUnsigned(upTo: 31))
        let chroma = Self.hasChromaFormat(profileIDC) ? try ChromaFormat(from: &reader) : ChromaFormat()
        (chromaFormatIDC, bitDepthLuma) = (chroma.formatIDC, chroma.bitDepthLuma)
        _ = try reader.readUnsigned(upTo: 12)  // log2_max_frame_num_minus4
        try Self.skipPictureOrderCount(&reader)
        _ = try reader.readUnsigned(upTo: 16)  // max_num_ref_frames
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

extension VideoUsability {
    /// vui_parameters() (clause E.1.1).
    init(from reader: inout RBSPReader) throws(H264Error) {
        try Self.skipAspectAndSignal(&reader)
        if try reader.readBit() {
            let numUnitsInTick = try reader.readBits(32)
            let timeScale = try reader.readBits(32)
            _ = try reader.readBit()  // fixed_frame_rate_flag
            if numUnitsInTick > 0, timeScale > 0 { timing = Timing(numUnitsInTick: numUnitsInTick, timeScale: timeScale) }
        }
        let hasNALHRD = try reader.readBit()
        var form = hasNALHRD ? try Self.readHypotheticalReferenceDecoder(&reader) : nil
        let hasVCLHRD = try reader.readBit()
        if hasVCLHRD { form = try Self.readHypotheticalReferenceDecoder(&reader) }
        if hasNALHRD || hasVCLHRD { _ = try reader.readBit() }  // low_delay_hrd_flag
        if try reader.readBit() { pictureTiming = form ?? PictureTimingForm() }  // pic_struct_present_flag
        guard try reader.readBit() else { return }
        _ = try reader.readBit()  // motion_vectors_over_pic_boundaries_flag
        for _ in 0..<4 { _ = try reader.readUnsigned() }  // max_bytes, max_bits, log2_max_mv_length × 2
        for _ in 0..<2 { _ = try reader.readUnsigned(upTo: 16) }  // max_num_reorder_frames, max_dec_frame_buffering
    }

    private static func skipAspectAndSignal(_ reader: inout RBSPReader) throws(H264Error) {
        let extendedSAR: UInt32 = 255
        if try reader.readBit(), try reader.readBits(8) == extendedSAR { try reader.skipBits(32) }
        if try reader.readBit() { _ = try reader.readBit() }  // overscan
        if try reader.readBit() {  // video_signal_type_present_flag
            try reader.skipBits(4)
            if try reader.readBit() { try reader.skipBits(24) }
        }
        if try reader.readBit() {  // chroma_loc_info_present_flag
            _ = try reader.readUnsigned()
            _ = try reader.readUnsigned()
        }
    }

    /// hrd_parameters() (clause E.1.2).
    /// - Returns: what they say of pic_timing messages.
    private static func readHypotheticalReferenceDecoder(
        _ reader: inout RBSPReader
    ) throws(H264Error) -> PictureTimingForm {
        let count = try reader.readUnsigned(upTo: 31) + 1
        try reader.skipBits(8)
        for _ in 0..<count {
            _ = try reader.readUnsigned()
            _ = try reader.readUnsigned()
            _ = try reader.readBit()
        }
        try reader.skipBits(5)  // initial_cpb_removal_delay_length_minus1
        let removal = UInt8(try reader.readBits(5)) + 1
        let output = UInt8(try reader.readBits(5)) + 1
        return PictureTimingForm(delayBitCount: removal + output, offsetBitCount: UInt8(try reader.readBits(5)))
    }
}
