import JSON
import Testing

/// What OBS Studio makes of a configuration, read in its source (tag 32.2.2; `jim_nvenc` in 30.2.3): encoders by the names that
/// they register, with the settings that each reads, and its rules for rates.
enum OBSSource {
    enum Setting {
        case text(Set<String>)
        case number(ClosedRange<Int64>)
        case flag
    }

    struct Encoder {
        /// Where its settings are read.
        let file: String
        let settings: [String: Setting]
    }

    static let encoders: [String: Encoder] = [
        "obs_x264": Encoder(
            file: "plugins/obs-x264/obs-x264.c",
            settings: [
                "rate_control": .text(["CBR", "ABR", "VBR", "CRF"]), "bitrate": .number(50...10_000_000),
                "keyint_sec": .number(0...20), "bf": .number(0...16), "profile": .text(["", "baseline", "main", "high"]),
                "preset": .text([
                    "ultrafast", "superfast", "veryfast", "faster", "fast", "medium", "slow", "slower", "veryslow", "placebo",
                ]),
                "tune": .text([
                    "", "film", "animation", "grain", "stillimage", "psnr", "ssim", "fastdecode", "zerolatency",
                ]),
            ]),
        "obs_nvenc_h264_tex": nvenc("plugins/obs-nvenc/nvenc-properties.c", preset: "preset", aq: "adaptive_quantization"),
        "jim_nvenc": nvenc("plugins/obs-ffmpeg/obs-nvenc.c", preset: "preset2", aq: "psycho_aq"),
        "obs_qsv11_v2": Encoder(
            file: "plugins/obs-qsv11/obs-qsv11.c",
            settings: [
                "rate_control": .text(["CBR", "VBR", "CQP", "ICQ"]), "bitrate": .number(50...65_535),
                "keyint_sec": .number(0...20), "bf": .number(0...7), "profile": .text(["baseline", "main", "high"]),
                "target_usage": .text(["TU1", "TU2", "TU3", "TU4", "TU5", "TU6", "TU7"]),
                "latency": .text(["ultra-low", "low", "normal"]),
            ]),
        "h264_texture_amf": Encoder(
            file: "plugins/obs-ffmpeg/texture-amf.cpp",
            settings: [
                "rate_control": .text(["CBR", "CQP", "VBR", "VBR_LAT", "QVBR", "HQVBR", "HQCBR"]),
                "bitrate": .number(50...100_000), "keyint_sec": .number(0...10), "bf": .number(0...5),
                "profile": .text(["baseline", "main", "high", "constrained_baseline", "constrained_high"]),
                "preset": .text(["highQuality", "quality", "balanced", "speed"]), "pre_analysis": .flag,
            ]),
        "com.apple.videotoolbox.videoencoder.ave.avc": Encoder(
            file: "plugins/mac-videotoolbox/encoder.c",
            settings: [
                "rate_control": .text(["CBR", "ABR", "CRF"]), "bitrate": .number(50...10_000_000),
                "keyint_sec": .number(0...20), "profile": .text(["baseline", "main", "high"]), "bframes": .flag,
            ]),
    ]

    private static func nvenc(_ file: String, preset: String, aq: String) -> Encoder {
        Encoder(
            file: file,
            settings: [
                "rate_control": .text(["CBR", "CQP", "VBR", "CQVBR", "lossless"]), "bitrate": .number(50...4_000_000),
                "keyint_sec": .number(0...10), "bf": .number(0...4), "profile": .text(["baseline", "main", "high"]),
                preset: .text(["p1", "p2", "p3", "p4", "p5", "p6", "p7"]), "tune": .text(["uhq", "hq", "ll", "ull"]),
                "multipass": .text(["disabled", "qres", "fullres"]), "lookahead": .flag, aq: .flag,
            ])
    }

    /// Whether an encoder reads this setting, as this type and with this value.
    static func reads(_ name: String, _ value: JSONValue, by type: String) -> Bool {
        switch encoders[type]?.settings[name] {
        case .text(let values): value.string.map(values.contains) ?? false
        case .number(let range): value.integer.map(range.contains) ?? false
        case .flag: value.bool != nil
        case nil: false
        }
    }

    /// `closest_divisor` of frontend/utility/MultitrackVideoOutput.cpp: by what OBS divides its own rate.
    static func divisor(_ own: (numerator: Int64, denominator: Int64), _ wanted: (numerator: Int64, denominator: Int64)) -> Int64
    {
        max(1, own.numerator * wanted.denominator / (wanted.numerator * own.denominator))
    }
}

extension JSONValue {
    /// The members that frontend/utility/models/multitrack-video.hpp demands, or reads as these types.
    func checkAsOBSReadsIt() throws {
        let meta = try #require(self["meta"])
        for name in ["service", "schema_version", "config_id"] { #expect(meta[name]?.string != nil, "\(name)") }
        #expect(["success", "warning", "error"].contains(self["status"]?["result"]?.string))
        for endpoint in self["ingest_endpoints"]?.array ?? [] {
            #expect(["RTMP", "RTMPS"].contains(endpoint["protocol"]?.string))
            #expect(endpoint["url_template"]?.string?.hasSuffix("/{stream_key}") == true)
        }
        for encoder in self["encoder_configurations"]?.array ?? [] {
            let type = try #require(encoder["type"]?.string)
            try #require(OBSSource.encoders[type] != nil, "OBS registers no \(type)")
            #expect(encoder["canvas_index"] == 0 && encoder["gpu_scale_type"] == "OBS_SCALE_BICUBIC")
            #expect(encoder["colorspace"] == "VIDEO_CS_709" && encoder["range"] == "VIDEO_RANGE_PARTIAL")
            #expect(encoder["format"] == "VIDEO_FORMAT_NV12", "the one that every encoder takes")
            for setting in encoder["settings"]?.object?.members ?? [] {
                #expect(OBSSource.reads(setting.name, setting.value, by: type), "\(type): \(setting.name) \(setting.value)")
            }
        }
        let audio = self["audio_configurations"]
        for track in (audio?["live"]?.array ?? []) + (audio?["vod"]?.array ?? []) {
            #expect(track["codec"]?.string != nil && track["track_id"]?.integer != nil && track["channels"]?.integer != nil)
            #expect(track["settings"]?["bitrate"]?.integer != nil)
        }
    }
}
