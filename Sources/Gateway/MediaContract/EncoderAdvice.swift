import H264
import Settings
import Wire

/// Which setting cures a fault, in the words of the encoder's own settings.
struct EncoderAdvice {
    /// What is to be set, and where OBS has it when that is not the page of most settings.
    struct Setting: Equatable {
        var words: String
        var page: String?

        /// For whoever sees it alone.
        var text: String { page.map { "\(words) (\($0))" } ?? words }
    }

    var family: EncoderFamily
    /// The stream carries x264's settings: OBS then names its settings otherwise than with a hardware encoder.
    var isX264: Bool
    /// Bitrates are then those of all layers together.
    var hasLayers = false
    var rules: ContractSettings

    /// All that is to be set, and where that is, as far as it needs saying.
    func words(for settings: [Setting]) -> String {
        let list = settings.map(\.text).joined(separator: family == .ffmpeg ? " " : ", ")
        return switch family {
        case .obs: Self.wordsForOBS(settings)
        case .vMix: "in vMix (Streaming > Quality, the cog) set \(list)"
        case .larix: "in Larix (Settings > Video) set \(list)"
        case .ffmpeg: "give ffmpeg \(list)"
        case .browser, .unknown, .ivsSDK, .gStreamer, .wirecast: "set \(list)"
        }
    }

    /// Settings without a page of their own are all on one, which is said of them once.
    private static func wordsForOBS(_ settings: [Setting]) -> String {
        let elsewhere = settings.filter { $0.page != nil }.map(\.text)
        let there = settings.filter { $0.page == nil }.map(\.words).joined(separator: ", ")
        if elsewhere.isEmpty { return "in OBS (\(outputPage)) set \(there)" }
        let first = "in OBS set \(elsewhere.joined(separator: ", "))"
        return there.isEmpty ? first : "\(first), and in \(outputPage), \(there)"
    }

    private static let outputPage = "Settings > Output, mode Advanced"

    /// The cure of one fault.
    func setting(for fault: ContractFault) -> Setting {
        switch fault {
        case .videoCodec: pick([.obs: "Video Encoder = x264 or H.264", .ffmpeg: "-c:v libx264"], other: "an H.264 encoder")
        case .profile(let idc): idc > SequenceParameterSet.high ? profileAndSamples : profile
        case .bFrames: bFrames
        case .interlaced: pick([.ffmpeg: "-vf yadif without +ildct"], other: "progressive output")
        case .sliceGroups, .arbitrarySliceOrder, .redundantPictures:
            Setting(words: "one slice group, slices in order, no redundant slices")
        case .unjudgedPictures: Setting(words: "parameter sets before each keyframe, each slice header whole in its first packet")
        case .resolutionAbove(let width, let height), .resolutionBelow(let width, let height):
            resolution(AdvisedPicture(under: rules, insteadOf: width, height))
        case .videoBitrate: bitrate
        case .audioCodec: pick([.ffmpeg: "-c:a aac", .gStreamer: "avenc_aac"], other: "the audio encoder to AAC (LC, not HE)")
        case .audioFormat:
            pick([.obs: "48 kHz and Stereo", .ffmpeg: "-ar 48000 -ac 2"], other: "48 kHz, stereo", pageOfOBS: "Settings > Audio")
        case .missingAudio:
            pick(
                [.ffmpeg: "an audio input, such as -f lavfi -i anullsrc, and -c:a aac"],
                other: "an audio source (silence will do)")
        case .missingVideo: pick([.ffmpeg: "a video input and -c:v libx264"], other: "a video source")
        case .undescribedVideo:
            pick([.ffmpeg: "-flags +global_header"], other: "the encoder to send SPS and PPS in an AVC sequence header")
        case .undescribedAudio:
            pick([.ffmpeg: "-bsf:a aac_adtstoasc"], other: "the encoder to send an AudioSpecificConfig in an AAC sequence header")
        case .duration: Setting(words: "a new stream")
        case .audioBitrate:
            pick(
                [.ffmpeg: "-b:a \(kilobits(rules.audioBitrate.limit))k"],
                other: "the audio bitrate to \(kilobits(rules.audioBitrate.limit)) kbit/s")
        case .frameRate: frameRate
        case .keyframeInterval: keyframeInterval
        }
    }

    private var profile: Setting {
        let name = rules.profile.limit.contains(.main) ? "main" : "baseline"
        return pick(
            [
                .obs: "Profile = \(name)", .ffmpeg: "-profile:v \(name)", .vMix: "Profile = \(name)",
                .larix: "AVC profile = \(name)",
                .gStreamer: "caps video/x-h264,profile=\(name == "main" ? name : "constrained-baseline")",
                .browser: "an H.264 codec with profile-level-id 42e01f",
            ], other: "the H.264 profile to \(name)")
    }

    /// The profiles above High are chosen for the samples: x264, for one, starts in no lower one with those.
    private var profileAndSamples: Setting {
        let profile = profile.words
        return pick(
            [
                .obs: "\(profile) (\(Self.outputPage)), Color Format = NV12",
                .ffmpeg: "\(profile) -pix_fmt yuv420p",
            ], other: "\(profile), with 8 bits and 4:2:0", pageOfOBS: "Settings > Advanced")
    }

    private var bFrames: Setting {
        pick(
            [
                .obs: isX264
                    ? "x264 Options = bframes=0"
                    : "B-Frames = 0 and Look-ahead off (x264: x264 Options = bframes=0, Apple VT: Use B-Frames off)",
                .ffmpeg: "-bf 0", .ivsSDK: "usesBFrames = false (Android: setUseBFrames(false))",
                .gStreamer: "x264enc bframes=0",
            ], other: "B-frames to 0 and look-ahead to off")
    }

    /// To ffmpeg no second `-vf`, which would take the place of the first.
    private func resolution(_ picture: AdvisedPicture) -> Setting {
        pick(
            [
                .obs: "Output (Scaled) Resolution = \(picture)", .ffmpeg: "-s \(picture)",
                .browser: "a video constraint of \(picture)",
            ], other: "the output resolution to \(picture)", pageOfOBS: "Settings > Video")
    }

    /// `-r` alone repeats no picture in FLV (ffmpeg 5.1).
    private var frameRate: Setting {
        let rate = min(max(30, rules.frameRate.minimum), rules.frameRate.maximum)
        return pick(
            [.obs: "FPS = \(rate)", .ffmpeg: "fps=\(rate) in its -vf"], other: "\(rate) frames a second",
            pageOfOBS: "Settings > Video")
    }

    private var bitrate: Setting {
        // Encoders overshoot what they are set to: leave them three tenths.
        let rate = kilobits(rules.videoBitrate.limit) * 7 / 10
        if hasLayers {
            return pick([.ffmpeg: "-b:v \(rate)k in all"], other: "the bitrates of all layers to \(rate) kbit/s together")
        }
        return pick(
            [
                .obs: "Rate Control = CBR, Bitrate = \(rate) Kbps", .ffmpeg: "-b:v \(rate)k -maxrate \(rate)k -bufsize \(rate)k",
                .browser: "maxBitrate = \(rate)000",
            ], other: "a constant video bitrate of \(rate) kbit/s")
    }

    private var keyframeInterval: Setting {
        let seconds = ContractFault.short(rules.keyframeInterval.limit.inSeconds)
        return pick(
            [
                .obs: "Keyframe Interval = \(seconds) s", .ffmpeg: #"-force_key_frames "expr:gte(t,n_forced*\#(seconds))""#,
                .larix: "Keyframe frequency = \(seconds)", .gStreamer: "key-int-max = \(seconds) times the frame rate",
            ],
            other: "the keyframe interval to \(seconds) s")
    }

    private func kilobits(_ bits: Int) -> Int { bits / 1_000 }

    /// - Parameter pageOfOBS: nil for the page that most settings are on.
    private func pick(_ own: [EncoderFamily: String], other: String, pageOfOBS: String? = nil) -> Setting {
        Setting(words: own[family] ?? other, page: family == .obs ? pageOfOBS : nil)
    }
}

/// Which program encodes, as far as its flashVer or User-Agent tells: settings have other names in each.
public enum EncoderFamily: String, Sendable, CaseIterable {
    case obs, ffmpeg, vMix, larix, ivsSDK, gStreamer, wirecast, browser, unknown

    /// - Parameter product: flashVer of RTMP's `connect`, or the User-Agent header.
    public init(product: String) {
        let product = Array(product.lowercased().utf8)
        let family = Self.marks.first { mark, _ in Self.contains(product, mark.utf8) }
        self = family?.1 ?? .unknown
    }

    /// By bytes: the library's search by characters takes many times as long.
    private static func contains(_ text: [UInt8], _ mark: String.UTF8View) -> Bool {
        text.indices.contains { text[$0...].starts(with: mark) }
    }

    /// In this order: OBS and browsers both say Mozilla, ffmpeg and OBS both say FMLE/3.0. By RTMP OBS says no more than
    /// Flash Media Live Encoder did; what Wirecast and phones say of FMSc is not that. What GStreamer's
    /// rtmp2sink says, LNX 10,0,32,18, is librtmp's own word, and so that of many phones.
    private static let marks: [(String, EncoderFamily)] = [
        ("obs-studio", .obs), ("fmle/3.0 (compatible; fmsc/1.0)", .obs), ("lavf", .ffmpeg), ("ffmpeg", .ffmpeg), ("vmix", .vMix),
        ("larix", .larix), ("softvelum", .larix), ("ivs", .ivsSDK), ("gstreamer", .gStreamer), ("wirecast", .wirecast),
        ("mozilla/", .browser),
    ]
}
