extension VideoUsability {
    /// vui_parameters() (clause E.1.1).
    init(from reader: inout RBSPReader) throws(H264Error) {
        try Self.skipAspectAndSignal(&reader)
        if try reader.readBit() {
            let numUnitsInTick = try reader.readBits(32)
            let timeScale = try reader.readBits(32)
            let isFixed = try reader.readBit()
            if numUnitsInTick > 0, timeScale > 0 {
                timing = Timing(numUnitsInTick: numUnitsInTick, timeScale: timeScale, isFixedFrameRate: isFixed)
            }
        }
        let hasNALHRD = try reader.readBit()
        if hasNALHRD { try Self.skipHypotheticalReferenceDecoder(&reader) }
        let hasVCLHRD = try reader.readBit()
        if hasVCLHRD { try Self.skipHypotheticalReferenceDecoder(&reader) }
        if hasNALHRD || hasVCLHRD { _ = try reader.readBit() }  // low_delay_hrd_flag
        _ = try reader.readBit()  // pic_struct_present_flag
        guard try reader.readBit() else { return }
        _ = try reader.readBit()  // motion_vectors_over_pic_boundaries_flag
        for _ in 0..<4 { _ = try reader.readUnsigned() }  // max_bytes, max_bits, log2_max_mv_length × 2
        maxNumReorderFrames = try reader.readUnsigned(upTo: 16)
        maxDecFrameBuffering = try reader.readUnsigned(upTo: 16)
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
    private static func skipHypotheticalReferenceDecoder(_ reader: inout RBSPReader) throws(H264Error) {
        let count = try reader.readUnsigned(upTo: 31) + 1
        try reader.skipBits(8)
        for _ in 0..<count {
            _ = try reader.readUnsigned()
            _ = try reader.readUnsigned()
            _ = try reader.readBit()
        }
        try reader.skipBits(20)
    }
}
