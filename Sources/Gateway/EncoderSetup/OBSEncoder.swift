public import JSON
import Settings

/// An H.264 encoder as OBS Studio registers it, and its settings in the keys that it reads (read in the source of OBS 32.2).
///
/// OBS refuses to start with an encoder that it has not registered, and does not tell which it has: a choice has to be right
/// by what it says of the machine. Where there is doubt, x264 runs everywhere.
public enum OBSEncoder: Equatable, Sendable {
    case x264(cores: Int)
    /// NVENC. OBS up to 30 knows it by another name and another key for the preset.
    case nvenc(isBeforeOBS31: Bool)
    /// Intel Quick Sync Video.
    case quickSync
    /// AMD's Advanced Media Framework.
    case amf
    /// Apple's VideoToolbox on Apple silicon.
    case videoToolbox

    /// Where nothing is known of the machine: x264 as OBS itself begins.
    public static let usual = OBSEncoder.x264(cores: 6)

    /// What `obs_enum_encoder_types` lists.
    public var type: String {
        switch self {
        case .x264: "obs_x264"
        case .nvenc(let isBeforeOBS31): isBeforeOBS31 ? "jim_nvenc" : "obs_nvenc_h264_tex"
        case .quickSync: "obs_qsv11_v2"
        case .amf: "h264_texture_amf"
        case .videoToolbox: "com.apple.videotoolbox.videoencoder.ave.avc"
        }
    }

    /// For people.
    public var name: String {
        switch self {
        case .x264: "x264"
        case .nvenc: "NVIDIA NVENC"
        case .quickSync: "Intel Quick Sync"
        case .amf: "AMD AMF"
        case .videoToolbox: "Apple VideoToolbox"
        }
    }

    /// The object that OBS gives to the encoder.
    public func settings(for target: StreamTarget) -> JSONObject {
        let common: JSONObject = [
            "rate_control": "CBR", "bitrate": .integer(Int64(target.videoKilobits)),
            "keyint_sec": .integer(Int64(target.keyframeSeconds)), "profile": .string(target.profile.rawValue),
        ]
        return JSONObject((common.members + own.members).map { ($0.name, $0.value) })
    }

    /// No B-frames, no look-ahead, and what keeps the delay short, in each encoder's own keys.
    private var own: JSONObject {
        switch self {
        case .x264(let cores): ["bf": 0, "preset": .string(Self.preset(cores: cores)), "tune": "zerolatency"]
        case .nvenc(let isBeforeOBS31):
            [
                "bf": 0, isBeforeOBS31 ? "preset2" : "preset": "p4", "tune": "ll", "multipass": "disabled", "lookahead": false,
                isBeforeOBS31 ? "psycho_aq" : "adaptive_quantization": true,
            ]
        case .quickSync: ["bf": 0, "target_usage": "TU4", "latency": "ultra-low"]
        case .amf: ["bf": 0, "preset": "balanced", "pre_analysis": false]
        case .videoToolbox: ["bframes": false]
        }
    }

    /// 720p at 60 frames a second must leave half of the machine to the scene and the game.
    private static func preset(cores: Int) -> String {
        switch cores {
        case ..<3: "ultrafast"
        case ..<6: "superfast"
        default: "veryfast"
        }
    }
}

extension OBSEncoder {
    /// The best encoder that `machine` is sure to have.
    public init(on machine: ClientConfigurationRequest.Machine) {
        let vendor = machine.graphics.map(\.vendor)
        if machine.system == .macOS {
            self = machine.isAppleSilicon ? .videoToolbox : .x264(cores: machine.cores)
        } else if let card = machine.composing, card.vendor == .nvidia, card.hasNVENC {
            self = .nvenc(isBeforeOBS31: machine.obsMajor < 31)
        } else if machine.system == .windows, vendor.contains(.amd) {
            self = .amf
        } else if machine.system == .windows, vendor.contains(.intel) {
            self = .quickSync
        } else {
            self = .x264(cores: machine.cores)
        }
    }
}
