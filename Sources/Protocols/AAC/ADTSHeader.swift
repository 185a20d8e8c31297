import Wire

/// What stands before each frame of an AAC stream that has no container (ISO/IEC 14496-3 §1.A.2.2). RTMP has no place for it;
/// some encoders send it all the same.
public struct ADTSHeader: Equatable, Sendable, BitwiseCopyable {
    /// 7, or 9 with a checksum.
    public var byteCount: Int
    /// audioObjectType less 1: 1 is low complexity.
    private var profile: UInt16
    private var frequencyIndex: UInt16
    private var channelConfiguration: UInt16

    /// The header of the one frame that fills the bytes to the last; nil where they begin with none.
    ///
    /// A raw frame is not taken for it: one whose first three bits are set would end with them.
    public init?(of frame: RawSpan) {
        var reader = ByteReader(frame)
        // The sync word of 12 bits, and the layer, which is 0.
        guard let sync = reader.read(UInt16.self), sync & 0xFFF6 == 0xFFF0, let stream = reader.read(UInt16.self),
            let length = reader.read(UInt16.self), let blocks = reader.read(UInt8.self), blocks & 3 == 0
        else { return nil }
        byteCount = sync & 1 == 1 ? 7 : 9
        guard frame.byteCount == Int(stream & 3) << 11 | Int(length >> 5), frame.byteCount > byteCount else { return nil }
        (profile, frequencyIndex, channelConfiguration) = (stream >> 14, stream >> 10 & 15, stream >> 6 & 7)
    }

    /// What a sequence header of the stream would say; nil for all but low complexity of 1 to 6 channels.
    public var configuration: AudioSpecificConfig? {
        guard profile == 1, frequencyIndex < AudioSpecificConfig.sampleRates.count else { return nil }
        let sampleRate = AudioSpecificConfig.sampleRates[Int(frequencyIndex)]
        return AudioSpecificConfig(lowComplexityAt: sampleRate, channelCount: Int(channelConfiguration))
    }
}
