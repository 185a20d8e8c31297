// fuzz: module=H264
import H264

/// Parameter sets, slice headers, SEI, length-prefixed units and RTP payloads from one input: nothing may trap or hang.
enum H264Fuzz {
    /// x264's with pic_struct: pictures may have timecodes.
    private static let timedSet = try? SequenceParameterSet(
        parsing: ([
            0x67, 0x42, 0xC0, 0x15, 0xD9, 0x01, 0x41, 0x9F, 0x9F, 0x01, 0x6A, 0x0C, 0x0C, 0x0D, 0x4A, 0x00, 0x00, 0x03, 0x00,
            0x02,
            0x00, 0x00, 0x03, 0x00, 0x79, 0x3E, 0x2C, 0x5C, 0x90,
        ] as [UInt8]).span.bytes)

    static func run(_ bytes: UnsafeRawBufferPointer) {
        let span = bytes.bytes
        if let set = try? SequenceParameterSet(parsing: span) {
            precondition((1...SequenceParameterSet.maximumSide).contains(set.width))
            precondition((1...SequenceParameterSet.maximumSide).contains(set.height))
            precondition(set.profileLevelID.utf8.count == 6)
        }
        if let set = try? PictureParameterSet(parsing: span) { precondition((1...8).contains(set.sliceGroupCount)) }
        _ = try? SliceHeader(parsing: span)
        _ = EncoderSettings(inSEI: span)
        _ = BroadcastPerformance(inSEI: span)
        _ = PictureClock(inSEI: span, of: timedSet)
        _ = try? AVCDecoderConfigurationRecord(parsing: span)
        for lengthSize in [1, 2, 4] { walk(AVCCUnits(bytes, lengthSize: lengthSize), within: bytes.count) }
        switch try? RTPPayload(parsing: bytes) {
        case .aggregation(var units): while let unit = try? units.next() { precondition(!unit.isEmpty) }
        case .fragment(let fragment): _ = try? SliceHeader(header: fragment.header, payload: fragment.body.bytes)
        case .single, nil: break
        }
        var found = NALUnitList()
        for lengthSize in [1, 2, 4] {
            found.find(inAccessUnit: bytes, lengthSize: lengthSize)
            check(found, within: bytes.count)
        }
        found.find(inPayload: bytes)
        check(found, within: bytes.count)
    }

    private static func check(_ found: NALUnitList, within limit: Int) {
        precondition(found.units.count <= NALUnitList.maximumCount && found.endOffset <= limit)
        precondition(found.units.allSatisfy { !$0.isEmpty } && found.units.reduce(0) { $0 + $1.count } <= limit)
    }

    private static func walk(_ units: AVCCUnits, within limit: Int) {
        var units = units
        var total = 0
        while let unit = try? units.next() { total += unit.count }
        precondition(total <= limit)
    }
}
