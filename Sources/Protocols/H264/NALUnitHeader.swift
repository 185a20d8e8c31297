/// The first byte of a NAL unit (ITU-T H.264 clause 7.3.1): what is inside, and whether others refer to it.
@frozen
public struct NALUnitHeader: Equatable, Sendable, BitwiseCopyable {
    public var byte: UInt8

    @inlinable public init(_ byte: UInt8) { self.byte = byte }
    @inlinable public init(_ type: NALUnitType, refIDC: UInt8) { byte = refIDC << 5 | type.rawValue }

    @inlinable public var forbiddenZeroBit: Bool { byte & 0x80 != 0 }
    @inlinable public var refIDC: UInt8 { byte >> 5 & 3 }
    @inlinable public var type: NALUnitType { NALUnitType(rawValue: byte & 0x1F) }
}

/// nal_unit_type (table 7-1), and the packet types that RFC 6184 §5.2 adds.
@frozen
public struct NALUnitType: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
    public var rawValue: UInt8

    @inlinable public init(rawValue: UInt8) { self.rawValue = rawValue }

    @inlinable public static var nonIDRSlice: NALUnitType { NALUnitType(rawValue: 1) }
    @inlinable public static var partitionA: NALUnitType { NALUnitType(rawValue: 2) }
    @inlinable public static var partitionB: NALUnitType { NALUnitType(rawValue: 3) }
    @inlinable public static var partitionC: NALUnitType { NALUnitType(rawValue: 4) }
    @inlinable public static var idrSlice: NALUnitType { NALUnitType(rawValue: 5) }
    @inlinable public static var sei: NALUnitType { NALUnitType(rawValue: 6) }
    @inlinable public static var sequenceParameterSet: NALUnitType { NALUnitType(rawValue: 7) }
    @inlinable public static var pictureParameterSet: NALUnitType { NALUnitType(rawValue: 8) }
    @inlinable public static var accessUnitDelimiter: NALUnitType { NALUnitType(rawValue: 9) }
    @inlinable public static var endOfSequence: NALUnitType { NALUnitType(rawValue: 10) }
    @inlinable public static var endOfStream: NALUnitType { NALUnitType(rawValue: 11) }
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
