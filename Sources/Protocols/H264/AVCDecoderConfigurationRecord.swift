public import Wire

/// The AVC sequence header of RTMP (ISO/IEC 14496-15 §5.3.3.1): the parameter sets and the size of length prefixes.
public struct AVCDecoderConfigurationRecord: Equatable, Sendable {
    public var profileIndication: UInt8
    public var profileCompatibility: UInt8
    public var levelIndication: UInt8
    /// Bytes of each NAL unit's length: 1, 2 or 4.
    public var lengthSize: Int
    /// NAL units without start code or length, in the record's order; at most 31.
    public var sequenceParameterSets: [[UInt8]]
    /// At most 255.
    public var pictureParameterSets: [[UInt8]]

    /// Longer records are refused: real ones have below 100 bytes.
    public static let maximumByteCount = 65_536

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
