/// The first byte of a NAL unit (ITU-T H.264 clause 7.3.1): what is inside, and whether others refer to it.
@frozen
public struct NALUnitHeader: Equatable, Sendable, BitwiseCopyable {
    /// As sent: forbidden_zero_bit, nal_ref_idc, nal_unit_type.
    public var byte: UInt8

    /// From the first byte of a unit.
    @inlinable public init(_ byte: UInt8) { self.byte = byte }
    /// The byte of a unit of that type.
    /// - Parameter refIDC: nal_ref_idc, 0 to 3.
    @inlinable public init(_ type: NALUnitType, refIDC: UInt8) { byte = refIDC << 5 | type.rawValue }

    /// Set only where something was broken on the way.
    @inlinable public var forbiddenZeroBit: Bool { byte & 0x80 != 0 }
    /// nal_ref_idc: 0 when no other picture refers to this one.
    @inlinable public var refIDC: UInt8 { byte >> 5 & 3 }
    /// nal_unit_type.
    @inlinable public var type: NALUnitType { NALUnitType(rawValue: byte & 0x1F) }
}

/// nal_unit_type (table 7-1), and the packet types that RFC 6184 §5.2 adds.
@frozen
public struct NALUnitType: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
    /// The five bits of the header.
    public var rawValue: UInt8

    /// From the five bits of the header.
    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A slice of a picture that is no IDR picture.
    @inlinable public static var nonIDRSlice: NALUnitType { NALUnitType(rawValue: 1) }
    /// Data partition A, which holds the slice header.
    @inlinable public static var partitionA: NALUnitType { NALUnitType(rawValue: 2) }
    /// A slice of an IDR picture: decoding can start there.
    @inlinable public static var idrSlice: NALUnitType { NALUnitType(rawValue: 5) }
    /// Supplemental enhancement information.
    @inlinable public static var sei: NALUnitType { NALUnitType(rawValue: 6) }
    /// SPS.
    @inlinable public static var sequenceParameterSet: NALUnitType { NALUnitType(rawValue: 7) }
    /// PPS.
    @inlinable public static var pictureParameterSet: NALUnitType { NALUnitType(rawValue: 8) }
    /// Filler data, which carries nothing.
    @inlinable public static var filler: NALUnitType { NALUnitType(rawValue: 12) }
    /// Single-time aggregation packet (RFC 6184 §5.7.1).
    @inlinable public static var stapA: NALUnitType { NALUnitType(rawValue: 24) }
    /// Fragmentation unit (RFC 6184 §5.8).
    @inlinable public static var fuA: NALUnitType { NALUnitType(rawValue: 28) }

    /// A slice that begins with a slice header: 1, 2 (data partition A) or 5.
    @inlinable public var hasSliceHeader: Bool { self == .nonIDRSlice || self == .idrSlice || self == .partitionA }

    /// A type that a whole NAL unit has in an RTP payload (RFC 6184 table 1); 0 and 24 to 31 mean something else there.
    @inlinable public var isWholeUnit: Bool { 1...23 ~= rawValue }
}

/// What can be wrong with H.264 bytes from a peer.
public enum H264Error: Error, Equatable, Sendable {
    /// The bytes end inside a field.
    case truncated
    /// The NAL unit is of another type than the parser is for, or forbidden_zero_bit is set.
    case unexpectedType(UInt8)
    /// An Exp-Golomb code of more than 32 leading zeros (clause 9.1).
    case codeTooLong
    /// A syntax element outside the range that its semantics allow.
    case valueOutOfRange
    /// A NAL unit or record longer than its parser takes.
    case tooLong
    /// A length field points beyond the end of its container.
    case lengthBeyondEnd
    /// A lengthSizeMinusOne that stands for 3 bytes, or another version of the record than 1.
    case unsupportedRecord
}
