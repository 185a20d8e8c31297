import Wire

/// A sequence parameter set (clause 7.3.2.1.1): profile, size and timing of the pictures that refer to it. Holds no bytes.
public struct SequenceParameterSet: Equatable, Sendable, BitwiseCopyable {
    public var profileIDC: UInt8
    /// constraint_set0_flag in the top bit, as in the second byte of profile-level-id (RFC 6184 §8.1).
    public var constraintFlags: UInt8
    public var levelIDC: UInt8
    /// seq_parameter_set_id, 0 to 31.
    public var id: UInt8
    /// 0 monochrome, 1 4:2:0, 2 4:2:2, 3 4:4:4.
    public var chromaFormatIDC: UInt8 = 1
    public var bitDepthLuma: UInt8 = 8
    public var hasSeparateColourPlanes = false
    /// Bits of frame_num in slice headers, 4 to 16.
    public var frameNumBitCount: UInt8
    public var maxNumRefFrames: UInt32
    public var frameMbsOnly: Bool
    /// In samples, after cropping; 0 at least, 16,384 at most.
    public var width: Int
    public var height: Int
    public var vui: VideoUsability?

    /// Pictures may be stored or shown in another order than they are sent, as the stream itself says.
    public var declaresReordering: Bool { (vui?.maxNumReorderFrames ?? 0) > 0 }

    public var pixelCount: Int { width * height }

    /// Six hex digits: profile_idc, constraint flags, level_idc (RFC 6184 §8.1).
    public var profileLevelID: String { String(hexadecimal: [profileIDC, constraintFlags, levelIDC]) }

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

    public static let baseline: UInt8 = 66
    public static let main: UInt8 = 77
    public static let extended: UInt8 = 88
    public static let high: UInt8 = 100

    /// The widest and tallest picture we describe: beyond every level of the specification.
    public static let maximumSide = 16_384
    /// Longer ones are refused; with all scaling lists and both HRDs a set stays below 2 KiB.
    public static let maximumByteCount = 4_096
}

/// The parts of the video usability information (annex E) that say when and in what order pictures are shown.
public struct VideoUsability: Equatable, Sendable, BitwiseCopyable {
    /// num_units_in_tick and time_scale; nil without timing_info_present_flag or with a zero in it.
    public var timing: Timing?
    public var maxNumReorderFrames: UInt32?
    public var maxDecFrameBuffering: UInt32?

    public struct Timing: Equatable, Sendable, BitwiseCopyable {
        public var numUnitsInTick: UInt32
        public var timeScale: UInt32
        public var isFixedFrameRate: Bool

        /// Frames a second: a frame lasts two ticks (equation D-2).
        public var frameRate: Double { Double(timeScale) / (2 * Double(numUnitsInTick)) }
    }
}
