public import Wire

/// The AVC sequence header of RTMP (ISO/IEC 14496-15 §5.3.3.1): the parameter sets and the size of length prefixes.
public struct AVCDecoderConfigurationRecord: Equatable, Sendable {
    /// AVCProfileIndication: profile_idc of the sets.
    public var profileIndication: UInt8
    /// profile_compatibility: the constraint flags of the sets.
    public var profileCompatibility: UInt8
    /// AVCLevelIndication: level_idc of the sets.
    public var levelIndication: UInt8
    /// Bytes of each NAL unit's length: 1, 2 or 4.
    public var lengthSize: Int
    /// NAL units without start code or length, in the record's order; at most 31, of 65,535 bytes each.
    public var sequenceParameterSets: [[UInt8]]
    /// At most 255, of 65,535 bytes each.
    public var pictureParameterSets: [[UInt8]]

    /// Longer records are refused: real ones have below 100 bytes.
    public static let maximumByteCount = 65_536

    /// The record of one pair of sets, as an encoder announces it.
    /// - Parameter lengthSize: 1, 2 or 4 bytes.
    /// - Precondition: `sequenceParameterSet` has at least four bytes; our own code made it.
    public init(sequenceParameterSet: [UInt8], pictureParameterSet: [UInt8], lengthSize: Int = 4) {
        precondition(sequenceParameterSet.count >= 4, "our own parameter set has a profile and a level")
        (profileIndication, profileCompatibility) = (sequenceParameterSet[1], sequenceParameterSet[2])
        (levelIndication, self.lengthSize) = (sequenceParameterSet[3], lengthSize)
        (sequenceParameterSets, pictureParameterSets) = ([sequenceParameterSet], [pictureParameterSet])
    }

    /// Parses the body of the sequence header; what follows the picture parameter sets is for high profiles and left out.
    ///
    /// Empty sets are left out; reserved bits are not looked at, because encoders send them as zero.
    /// - Throws: `.truncated`, `.tooLong`, `.unsupportedRecord`, `.lengthBeyondEnd`.
    public init(parsing record: RawSpan) throws(H264Error) {
        guard record.byteCount <= Self.maximumByteCount else { throw .tooLong }
        var reader = ByteReader(record)
        guard let version = reader.read(UInt8.self), let profile = reader.read(UInt8.self),
            let compatibility = reader.read(UInt8.self), let level = reader.read(UInt8.self),
            let lengthSizeMinusOne = reader.read(UInt8.self), let sequenceCount = reader.read(UInt8.self)
        else { throw .truncated }
        guard version == 1, lengthSizeMinusOne & 3 != 2 else { throw .unsupportedRecord }
        (profileIndication, profileCompatibility, levelIndication) = (profile, compatibility, level)
        lengthSize = Int(lengthSizeMinusOne & 3) + 1
        sequenceParameterSets = try Self.readSets(sequenceCount & 0x1F, from: &reader)
        guard let pictureCount = reader.read(UInt8.self) else { throw .truncated }
        pictureParameterSets = try Self.readSets(pictureCount, from: &reader)
    }

    private static func readSets(_ count: UInt8, from reader: inout ByteReader) throws(H264Error) -> [[UInt8]] {
        var sets: [[UInt8]] = []
        for _ in 0..<count {
            guard let length = reader.read(UInt16.self) else { throw .truncated }
            guard let set = reader.readBytes(count: Int(length)) else { throw .lengthBeyondEnd }
            if !set.isEmpty { sets.append(set) }
        }
        return sets
    }

    /// The record's bytes, as an encoder sends them.
    /// - Precondition: no more sets, and no longer ones, than the record has numbers for.
    public func write(into writer: inout ByteWriter) {
        writer.write(contentsOf: [1, profileIndication, profileCompatibility, levelIndication])
        writer.write(0xFC | UInt8(lengthSize - 1))
        writer.write(0xE0 | UInt8(sequenceParameterSets.count))
        for set in sequenceParameterSets { Self.write(set, into: &writer) }
        writer.write(UInt8(pictureParameterSets.count))
        for set in pictureParameterSets { Self.write(set, into: &writer) }
    }

    private static func write(_ set: [UInt8], into writer: inout ByteWriter) {
        writer.write(UInt16(set.count))
        writer.write(contentsOf: set)
    }
}

/// The NAL units of one access unit in length-prefixed form (ISO/IEC 14496-15 §5.3.4.2), as RTMP carries them.
///
/// The units lie in the given bytes and live as long as those. Empty units, which some encoders send, are stepped over.
///
///     var units = AVCCUnits(accessUnit, lengthSize: record.lengthSize)
///     while let unit = try units.next() { look(at: NALUnitHeader(unit[0]).type) }
@frozen
@safe public struct AVCCUnits {
    /// The whole access unit.
    public let bytes: UnsafeRawBufferPointer
    /// Bytes of each length: 1, 2 or 4.
    public let lengthSize: Int
    @usableFromInline var offset = 0

    /// - Parameter lengthSize: as `AVCDecoderConfigurationRecord` gave it, which lets only 1, 2 and 4 pass.
    @inlinable
    public init(_ bytes: UnsafeRawBufferPointer, lengthSize: Int) {
        unsafe (self.bytes, self.lengthSize) = unsafe (bytes, lengthSize)
    }

    /// The next unit, its header byte first; nil at the end.
    /// - Throws: `.truncated` inside a length, `.lengthBeyondEnd`. After a throw the rest is given up.
    @inlinable
    public mutating func next() throws(H264Error) -> UnsafeRawBufferPointer? {
        while unsafe offset < bytes.count {
            guard unsafe bytes.count - offset >= lengthSize else { throw finish(.truncated) }
            var length = 0
            for index in 0..<lengthSize { length = unsafe length << 8 | Int(bytes[offset + index]) }
            let start = offset + lengthSize
            guard unsafe length <= bytes.count - start else { throw finish(.lengthBeyondEnd) }
            offset = start + length
            if length > 0 { return unsafe UnsafeRawBufferPointer(rebasing: bytes[start..<offset]) }
        }
        return nil
    }

    @inlinable
    mutating func finish(_ error: H264Error) -> H264Error {
        offset = unsafe bytes.count
        return error
    }
}
