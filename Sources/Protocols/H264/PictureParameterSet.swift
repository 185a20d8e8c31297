/// A picture parameter set (clause 7.3.2.2) as far as the weighted-prediction and redundancy flags. Holds no bytes.
public struct PictureParameterSet: Equatable, Sendable, BitwiseCopyable {
    /// pic_parameter_set_id, 0 to 255.
    public var id: UInt8
    /// The SPS that it refers to, 0 to 31.
    public var sequenceParameterSetID: UInt8
    /// 1 without flexible macroblock ordering; at most 8.
    public var sliceGroupCount: UInt8
    /// redundant_pic_cnt_present_flag: redundant pictures may come, which no Constrained Baseline stream has.
    public var redundantPicCntPresent: Bool

    /// Longer ones are refused; only an explicit slice-group map of a picture beyond our sizes is longer.
    public static let maximumByteCount = 16_384

    /// Parses one NAL unit of type 8, its header byte included.
    /// - Throws: `.unexpectedType`, `.tooLong`, `.truncated`, `.codeTooLong`, `.valueOutOfRange`.
    public init(parsing nalUnit: RawSpan) throws(H264Error) {
        self = unsafe try nalUnit.withUnsafeBytes { (bytes) throws(H264Error) in unsafe try PictureParameterSet(bytes) }
    }

    private init(_ bytes: UnsafeRawBufferPointer) throws(H264Error) {
        guard let first = unsafe bytes.first else { throw .truncated }
        guard first & 0x9F == NALUnitType.pictureParameterSet.rawValue else { throw .unexpectedType(first & 0x1F) }
        guard bytes.count <= Self.maximumByteCount else { throw .tooLong }
        var reader = unsafe RBSPReader(bytes)
        id = UInt8(try reader.readUnsigned(upTo: 255))
        sequenceParameterSetID = UInt8(try reader.readUnsigned(upTo: 31))
        try reader.skipBits(2)  // entropy_coding_mode_flag, bottom_field_pic_order_in_frame_present_flag
        sliceGroupCount = UInt8(try reader.readUnsigned(upTo: 7)) + 1
        if sliceGroupCount > 1 { try Self.skipSliceGroups(&reader, count: UInt32(sliceGroupCount)) }
        _ = try reader.readUnsigned(upTo: 31)  // num_ref_idx_l0_default_active_minus1
        _ = try reader.readUnsigned(upTo: 31)
        try reader.skipBits(3)  // weighted_pred_flag, weighted_bipred_idc
        for _ in 0..<3 { _ = try reader.readSigned() }  // pic_init_qp, pic_init_qs, chroma_qp_index_offset
        try reader.skipBits(2)  // deblocking_filter_control_present_flag, constrained_intra_pred_flag
        redundantPicCntPresent = try reader.readBit()
    }

    private static func skipSliceGroups(_ reader: inout RBSPReader, count: UInt32) throws(H264Error) {
        switch try reader.readUnsigned(upTo: 6) {
        case 0: for _ in 0..<count { _ = try reader.readUnsigned() }
        case 2:
            for _ in 1..<count {
                _ = try reader.readUnsigned()
                _ = try reader.readUnsigned()
            }
        case 3, 4, 5:
            _ = try reader.readBit()
            _ = try reader.readUnsigned()
        case 6:
            // The reader ends with the NAL unit, so a false count costs at most `maximumByteCount` bytes of reading.
            let bitCount = count > 4 ? 3 : count > 2 ? 2 : 1
            for _ in 0...(try reader.readUnsigned()) { try reader.skipBits(bitCount) }
        default: break  // 1: dispersed, without parameters
        }
    }
}
