public import AAC
public import H264
public import Opus

/// A track of a movie: its number, its clock, and what its samples are.
public struct MovieTrack: Equatable, Sendable {
    /// 1 at least; no two tracks of a movie share one.
    public var id: UInt32
    /// Ticks a second of decoding times and durations.
    public var timescale: UInt32
    /// How its samples are to be decoded.
    public var description: SampleDescription

    /// - Parameters:
    ///   - id: 1 at least.
    ///   - timescale: ticks a second.
    public init(id: UInt32, timescale: UInt32, description: SampleDescription) {
        (self.id, self.timescale, self.description) = (id, timescale, description)
    }

    /// RTP's clock, so that no time of H.264 is rounded.
    public static let videoTimescale: UInt32 = 90_000
}

/// The sample entry of a track (ISO/IEC 14496-12 §8.5.2).
public enum SampleDescription: Equatable, Sendable {
    /// `avc1` (ISO/IEC 14496-15 §5.4.2): parameter sets stand here, samples have NAL units behind four-byte lengths.
    case h264(AVCDecoderConfigurationRecord, width: Int, height: Int)
    /// `mp4a` (ISO/IEC 14496-14 §5.6): raw AAC frames.
    case aac(AudioSpecificConfig)
    /// `Opus` (Encapsulation of Opus in ISO Base Media File Format §4.3.1): Opus packets.
    case opus(OpusHead)

    var isVideo: Bool {
        if case .h264 = self { true } else { false }
    }

    /// The name in HLS's CODECS and in MIME types (RFC 6381), in the letters that browsers take.
    public var codecName: String {
        switch self {
        case .h264(let record, _, _):
            "avc1."
                + [record.profileIndication, record.profileCompatibility, record.levelIndication].map {
                    let digits = String($0, radix: 16)
                    return digits.count == 1 ? "0\(digits)" : digits
                }.joined()
        case .aac(let configuration): "mp4a.40.\(configuration.objectType.rawValue)"
        // `Opus` in sample entries, but lower case is what Chrome and Firefox know.
        case .opus: "opus"
        }
    }
}
