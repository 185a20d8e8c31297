/// The clips of the media contract (docs/media-contract.md), good and bad ones.
extension ContractClip {
    static let good = [
        ContractClip("720p30 with 2 s between keyframes", picture("1280x720") + sound() + baseline + aac),
        ContractClip("720p60", picture("1280x720", rate: 60) + sound() + baseline + ["-g", "120"] + aac) { $0.frameRate = 60 },
        ContractClip("720x1280", picture("720x1280") + sound() + baseline + aac),
        ContractClip("160 lines", picture("284x160") + sound() + baseline + aac),
        ContractClip("4:3", picture("960x720") + sound() + baseline + aac),
        ContractClip("10 pictures a second", picture(rate: 10) + sound() + baseline + ["-g", "20"] + aac) { $0.frameRate = 10 },
        ContractClip("44.1 kHz mono", picture() + sound(44_100) + baseline + aac + ["-ac", "1"]) { $0.routes = [.rtmp] },
        ContractClip("1 s between keyframes", picture() + sound() + baseline + ["-g", "30"] + aac),
        ContractClip("4 slices", picture() + sound() + baseline + ["-slices", "4"] + aac),
        ContractClip(
            "SEI before every picture",
            picture() + sound() + baseline + aac + [
                "-bsf:v", "h264_metadata=aud=insert:sei_user_data=086f3693b7b34f2c965321492feee5b8+somebody",
            ]),
        ContractClip("8.0 Mbit/s, buffer of 1 s", constant(8_000)) { $0.seconds = 31 },
        ContractClip("8.0 Mbit/s, buffer of 2 s", constant(8_000, buffer: 2)) { $0.seconds = 31 },
        ContractClip("8.5 Mbit/s, buffer of 1 s", constant(8_500)) { $0.seconds = 31 },
        ContractClip(
            "8.5 Mbit/s with filler",
            picture() + sound() + baseline + aac + [
                "-b:v", "8500k", "-minrate", "8500k", "-maxrate", "8500k", "-bufsize", "8500k", "-nal-hrd", "cbr",
            ]
        ) { $0.seconds = 31 },
    ]

    static let bFrames = Verdict(code: "SD-1042", error: "B_FRAME_PRESENT", words: ["B-frame", "-bf 0"])
    static let profile = Verdict(code: "SD-1041", error: "INVALID_VIDEO_CODEC", words: ["-profile:v baseline"])
    static let resolution = Verdict(code: "SD-1043", error: "RESOLUTION_EXCEEDED", words: ["1920x1080", "-s 1280x720"])
    static let bitrate = Verdict(code: "SD-1045", error: "BITRATE_EXCEEDED", words: ["Mbit/s (at most 8.5)"])
    static let audioCodec = Verdict(code: "SD-1046", error: "INVALID_AUDIO_CODEC")
    static let audioFormat = Verdict(code: "SD-1047", error: "INVALID_AUDIO_CODEC")
    static let missingTrack = Verdict(code: "SD-1048", error: "INVALID_INPUT", media: 4...7)

    static let bad = [
        ContractClip("B-frames", picture() + sound() + x264(["-profile:v", "main", "-bf", "2"]) + aac) { $0.verdict = bFrames },
        ContractClip(
            "B-frames from second 10", picture() + sound() + baseline + aac + ["-t", "10"],
            picture() + sound() + x264(["-profile:v", "main", "-bf", "2"]) + aac + ["-t", "6"]
        ) {
            $0.verdict = bFrames.after(9.5...12)
        },
        ContractClip("Main", picture() + sound() + x264(["-profile:v", "main", "-coder", "1", "-bf", "0"]) + aac) {
            $0.verdict = profile.naming(["Main profile", "-profile:v baseline"])
        },
        ContractClip(
            "High", picture() + sound() + x264(["-profile:v", "high", "-x264opts", "8x8dct=1:cabac=1", "-bf", "0"]) + aac
        ) {
            $0.verdict = profile.naming(["High profile", "-profile:v baseline"])
        },
        ContractClip(
            "x264 as OBS sets it untouched",
            picture() + sound()
                + ["-c:v", "libx264", "-preset", "veryfast", "-threads", "1", "-profile:v", "high", "-bf", "2", "-g", "250"]
                + ["-pix_fmt", "yuv420p"] + aac
        ) {
            $0.verdict = bFrames.naming([
                "2 B-frames", "High profile", "keyframe every 8.3 s", "-bf 0", "-profile:v baseline",
            ])
        },
        ContractClip(
            "interlaced",
            picture() + sound() + x264(["-profile:v", "main", "-coder", "1", "-flags", "+ildct+ilme", "-bf", "0"]) + aac
        ) {
            $0.verdict = Verdict(code: "SD-1050", error: "INVALID_VIDEO_CODEC", words: ["interlaced video", "Main profile"])
        },
        ContractClip("1080p", picture("1920x1080") + sound() + baseline + aac) { $0.verdict = resolution },
        ContractClip(
            "720p turning 1080p", picture("1280x720") + sound() + baseline + aac + ["-t", "4"],
            picture("1920x1080") + sound() + baseline + aac + ["-t", "4"]
        ) {
            $0.verdict = resolution.after(3.5...6)
        },
        ContractClip("9.5 Mbit/s", constant(9_500)) { ($0.seconds, $0.verdict) = (15, bitrate.after(4...12)) },
        ContractClip("12 Mbit/s", constant(12_000)) { ($0.seconds, $0.verdict) = (8, bitrate.after(0.5...4)) },
        // Progressive 4:2:0 has even numbers of lines only: this is the largest below 160.
        ContractClip("158 lines", picture("282x158") + sound() + baseline + aac) {
            $0.verdict = Verdict(code: "SD-1044", error: "INVALID_INPUT", words: ["282x158"])
            $0.whipMedia = 29...33
        },
        ContractClip("MP3", picture() + sound(44_100) + baseline + ["-c:a", "libmp3lame"]) {
            ($0.routes, $0.verdict) = ([.rtmp], audioCodec.naming(["MP3 audio", "-c:a aac"]))
        },
        // AAC-LC at half the rate, which the sequence header calls the core of HE-AAC: outright, or behind a sync extension.
        ContractClip("HE-AAC, explicit", picture() + sound(24_000) + baseline + aac) {
            ($0.routes, $0.verdict) = ([.rtmp], audioCodec.naming(["HE-AAC audio"]))
            $0.patch = ([0x13, 0x10, 0x56, 0xE5, 0x00], [0x2B, 0x11, 0x88, 0x00, 0x00])
        },
        ContractClip("HE-AAC, backward compatible", picture() + sound(24_000) + baseline + aac) {
            ($0.routes, $0.verdict) = ([.rtmp], audioCodec.naming(["HE-AAC audio"]))
            $0.patch = ([0x13, 0x10, 0x56, 0xE5, 0x00], [0x13, 0x10, 0x56, 0xE5, 0x98])
        },
        ContractClip("96 kHz", picture() + sound(96_000) + baseline + aac) {
            ($0.routes, $0.verdict) = ([.rtmp], audioFormat.naming(["96 kHz", "-ar 48000"]))
        },
        ContractClip("5.1", picture() + sound() + baseline + aac + ["-ac", "6"]) {
            ($0.routes, $0.verdict) = ([.rtmp], audioFormat.naming(["6 channels", "-ac 2"]))
        },
        ContractClip("video only", picture() + baseline) {
            ($0.seconds, $0.routes, $0.verdict) = (10, [.rtmp], missingTrack.naming(["no audio within 5 s"]))
        },
        ContractClip("audio only", sound() + aac) {
            ($0.seconds, $0.routes, $0.verdict) = (10, [.rtmp], missingTrack.naming(["no video within 5 s"]))
        },
    ]
}
