/// What the start of an H.264 payload tells without decoding (RFC 6184 §5.2): keyframes, and parameter sets to keep.
struct PayloadInspection {
    /// A sequence parameter set or the start of an IDR slice is in it.
    private(set) var startsKeyframe = false
    private(set) var hasIDR = false
    /// Where the sets lie in the payload.
    private(set) var sequenceSet: UnsafeRawBufferPointer?
    private(set) var pictureSet: UnsafeRawBufferPointer?
    var hasParameterSet: Bool { sequenceSet != nil || pictureSet != nil }

    init(_ payload: UnsafeRawBufferPointer) {
        guard let first = payload.first else { return }
        switch first & 0x1F {
        case 24: inspectAggregate(payload)
        case 28:
            // FU-A: type and start bit stand in the second byte (§5.8).
            guard payload.count >= 2, payload[1] & 0x80 != 0 else { return }
            note(type: payload[1] & 0x1F, unit: nil)
        case let type: note(type: type, unit: payload)
        }
    }

    private mutating func inspectAggregate(_ payload: UnsafeRawBufferPointer) {
        var offset = 1
        while payload.count - offset > 2 {
            let count = Int(payload[offset]) << 8 | Int(payload[offset + 1])
            guard count > 0, offset + 2 + count <= payload.count else { return }
            let unit = UnsafeRawBufferPointer(rebasing: payload[(offset + 2)..<(offset + 2 + count)])
            note(type: unit[0] & 0x1F, unit: unit)
            offset += 2 + count
        }
    }

    private mutating func note(type: UInt8, unit: UnsafeRawBufferPointer?) {
        switch type {
        case 5: (startsKeyframe, hasIDR) = (true, true)
        case 7: (startsKeyframe, sequenceSet) = (true, unit)
        case 8: pictureSet = unit
        default: break
        }
    }
}
