public import Wire

/// The identification header (RFC 7845 §5.1): the sequence start of Opus in Enhanced RTMP, and of Ogg.
public struct OpusHead: Equatable, Sendable {
    /// 1 to 255; more than 2 only with a mapping family other than 0.
    public var channelCount: UInt8
    /// Samples at 48 kHz to leave out at the start.
    public var preSkip: UInt16
    /// The rate before encoding, for information; Opus itself always runs at 48 kHz.
    public var inputSampleRate: UInt32
    /// Q7.8 decibels.
    public var outputGain: Int16
    /// 0 for one or two channels; the table of other families is not read.
    public var mappingFamily: UInt8

    /// A header of mapping family 0 without gain.
    /// - Parameter preSkip: 312 is libopus' look-ahead.
    public init(channelCount: UInt8, preSkip: UInt16 = 312, inputSampleRate: UInt32 = 48_000) {
        (self.channelCount, self.preSkip, self.inputSampleRate) = (channelCount, preSkip, inputSampleRate)
        (outputGain, mappingFamily) = (0, 0)
    }

    /// Parses the header; its numbers are little-endian. A channel mapping table behind it is not read.
    /// - Throws: `.truncated`, `.unsupportedHeader`.
    public init(parsing record: RawSpan) throws(OpusError) {
        var reader = ByteReader(record)
        guard let magic = reader.read(UInt64.self), let version = reader.read(UInt8.self),
            let channelCount = reader.read(UInt8.self), let preSkip = reader.read(UInt16.self),
            let inputSampleRate = reader.read(UInt32.self), let outputGain = reader.read(Int16.self),
            let mappingFamily = reader.read(UInt8.self)
        else { throw .truncated }
        guard magic == Self.magic, version >> 4 == 0, channelCount > 0 else { throw .unsupportedHeader }
        (self.channelCount, self.mappingFamily) = (channelCount, mappingFamily)
        (self.preSkip, self.inputSampleRate) = (preSkip.byteSwapped, inputSampleRate.byteSwapped)
        self.outputGain = outputGain.byteSwapped
    }

    /// Appends the 19 bytes of the header.
    public func write(into writer: inout ByteWriter) {
        writer.write(Self.magic)
        writer.write(contentsOf: [1, channelCount])
        writer.write(preSkip.byteSwapped)
        writer.write(inputSampleRate.byteSwapped)
        writer.write(outputGain.byteSwapped)
        writer.write(mappingFamily)
    }

    /// `OpusHead`.
    private static let magic: UInt64 = 0x4F70_7573_4865_6164
}
