/// What an audio message carries. AAC and Opus are taken; the others are known so that they can be refused by name.
public enum AudioCodec: Hashable, Sendable {
    case aac, opus
    case mp3, speex, nellymoser, pcm, adpcm, g711ALaw, g711MuLaw, ac3, eac3, flac, deviceSpecific
    case unknownSoundFormat(UInt8)
    case unknownFourCC(FourCC)

    /// From SoundFormat of the legacy AudioTagHeader (FLV 10.1 §E.4.2.1).
    init(soundFormat: UInt8) {
        switch soundFormat {
        case 0, 3: self = .pcm
        case 1: self = .adpcm
        case 2, 14: self = .mp3
        case 4, 5, 6: self = .nellymoser
        case 7: self = .g711ALaw
        case 8: self = .g711MuLaw
        case 10: self = .aac
        case 11: self = .speex
        case 15: self = .deviceSpecific
        default: self = .unknownSoundFormat(soundFormat)
        }
    }

    init(_ fourCC: FourCC) {
        switch fourCC {
        case "mp4a": self = .aac
        case "Opus": self = .opus
        case ".mp3": self = .mp3
        case "ac-3": self = .ac3
        case "ec-3": self = .eac3
        case "fLaC": self = .flac
        default: self = .unknownFourCC(fourCC)
        }
    }

    /// As a user knows it.
    public var name: String {
        switch self {
        case .aac: "AAC"
        case .opus: "Opus"
        case .mp3: "MP3"
        case .speex: "Speex"
        case .nellymoser: "Nellymoser"
        case .pcm: "PCM"
        case .adpcm: "ADPCM"
        case .g711ALaw: "G.711 A-law"
        case .g711MuLaw: "G.711 µ-law"
        case .ac3: "AC-3"
        case .eac3: "E-AC-3"
        case .flac: "FLAC"
        case .deviceSpecific: "device-specific audio"
        case .unknownSoundFormat(let format): "audio format \(format)"
        case .unknownFourCC(let code): "audio codec \(code)"
        }
    }
}
