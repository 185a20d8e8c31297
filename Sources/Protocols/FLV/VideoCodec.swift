/// What a video message carries. H.264 is taken; the others are known so that they can be refused by name.
public enum VideoCodec: Hashable, Sendable {
    case h264, hevc, vvc, av1, vp8, vp9
    case jpeg, sorensonH263, screenVideo, vp6, vp6Alpha, screenVideo2
    case unknownCodecID(UInt8)
    case unknownFourCC(FourCC)

    /// From CodecID of the legacy VideoTagHeader (FLV 10.1 §E.4.3.1). 12 and 13 are an extension seen from Asian encoders.
    init(codecID: UInt8) {
        switch codecID {
        case 1: self = .jpeg
        case 2: self = .sorensonH263
        case 3: self = .screenVideo
        case 4: self = .vp6
        case 5: self = .vp6Alpha
        case 6: self = .screenVideo2
        case 7: self = .h264
        case 12: self = .hevc
        case 13: self = .av1
        default: self = .unknownCodecID(codecID)
        }
    }

    init(_ fourCC: FourCC) {
        switch fourCC {
        case "avc1": self = .h264
        case "hvc1": self = .hevc
        case "vvc1": self = .vvc
        case "av01": self = .av1
        case "vp08": self = .vp8
        case "vp09": self = .vp9
        default: self = .unknownFourCC(fourCC)
        }
    }

    /// CodedFrames carries a composition time for these (Enhanced RTMP v2, ExVideoTagBody).
    var hasCompositionTime: Bool {
        switch self {
        case .h264, .hevc, .vvc: true
        default: false
        }
    }

    /// As a user knows it.
    public var name: String {
        switch self {
        case .h264: "H.264"
        case .hevc: "HEVC (H.265)"
        case .vvc: "VVC (H.266)"
        case .av1: "AV1"
        case .vp8: "VP8"
        case .vp9: "VP9"
        case .jpeg: "JPEG"
        case .sorensonH263: "Sorenson H.263 (FLV1)"
        case .screenVideo, .screenVideo2: "Screen video"
        case .vp6, .vp6Alpha: "VP6"
        case .unknownCodecID(let id): "video codec \(id)"
        case .unknownFourCC(let code): "video codec \(code)"
        }
    }
}
