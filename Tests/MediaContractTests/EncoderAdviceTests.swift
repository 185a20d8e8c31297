import Settings
import TestSupport
import Testing

@testable import MediaContract

@Suite("EncoderAdvice")
struct EncoderAdviceTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// flashVer or User-Agent.
        var product: String
        var isX264: Bool
        /// Where the settings are.
        var place: String
        /// The cures of B-frames, a wrong profile and a long keyframe interval.
        var settings: [String]
    }

    static let rows = [
        Row(
            testDescription: "OBS with x264", product: "FMLE/3.0 (compatible; FMSc/1.0)", isX264: true,
            place: "in OBS (Settings > Output, mode Advanced) set",
            settings: ["x264 Options = bframes=0", "Profile = baseline", "Keyframe Interval = 2 s"]),
        Row(
            testDescription: "OBS with NVENC", product: "FMLE/3.0 (compatible; FMSc/1.0)", isX264: false,
            place: "in OBS (Settings > Output, mode Advanced) set",
            settings: ["B-Frames = 0 and Look-ahead off", "Profile = baseline", "Keyframe Interval = 2 s"]),
        Row(
            testDescription: "OBS by WHIP", product: "Mozilla/5.0 (OBS-Studio/32.2.2+ds-1+b2; Linux x86_64; en-US)", isX264: true,
            place: "in OBS", settings: ["x264 Options = bframes=0", "Profile = baseline"]),
        Row(
            testDescription: "ffmpeg", product: "FMLE/3.0 (compatible; Lavf59.27.100)", isX264: true, place: "give ffmpeg",
            settings: ["-bf 0", "-profile:v baseline", #"-force_key_frames "expr:gte(t,n_forced*2)""#]),
        Row(
            testDescription: "ffmpeg by WHIP", product: "Lavf/63.1.102", isX264: true, place: "give ffmpeg",
            settings: ["-bf 0", "-profile:v baseline"]),
        Row(
            testDescription: "vMix", product: "vMix 28.0.0.39", isX264: true, place: "in vMix (Streaming > Quality, the cog) set",
            settings: ["B-frames to 0 and look-ahead to off", "Profile = baseline", "the keyframe interval to 2 s"]),
        Row(
            testDescription: "Larix", product: "Larix Broadcaster/1.3", isX264: false, place: "in Larix (Settings > Video) set",
            settings: ["B-frames to 0", "AVC profile = baseline", "Keyframe frequency = 2"]),
        Row(
            testDescription: "Wirecast", product: "Wirecast/FM 1.0 (compatible; FMSc/1.0)", isX264: true, place: ": set ",
            settings: ["B-frames to 0 and look-ahead to off", "the H.264 profile to baseline", "the keyframe interval to 2 s"]),
        Row(
            testDescription: "librtmp, and who copies it", product: "LNX 10,0,32,18", isX264: true, place: ": set ",
            settings: ["B-frames to 0 and look-ahead to off", "the H.264 profile to baseline", "the keyframe interval to 2 s"]),
        Row(
            testDescription: "a library for phones", product: "FME/3.0 (compatible; FMSc/1.0)", isX264: false, place: ": set ",
            settings: ["B-frames to 0 and look-ahead to off", "the H.264 profile to baseline", "the keyframe interval to 2 s"]),
        Row(
            testDescription: "the IVS SDK of iOS", product: "aws-ivs-broadcast-ios/1.20.0", isX264: false, place: "set ",
            settings: ["usesBFrames = false", "the H.264 profile to baseline", "the keyframe interval to 2 s"]),
        Row(
            testDescription: "a browser", product: "Mozilla/5.0 (X11; Linux x86_64) Chrome/156.0 Safari/537.36", isX264: false,
            place: "set ", settings: ["an H.264 codec with profile-level-id 42e01f"]),
        Row(
            testDescription: "a box that nobody knows", product: "", isX264: false, place: "set ",
            settings: ["B-frames to 0 and look-ahead to off", "the H.264 profile to baseline", "the keyframe interval to 2 s"]),
    ]

    @Test(arguments: rows)
    func `names the settings as the encoder does, and where they are`(_ row: Row) {
        var stream = SyntheticStream()
        (stream.sps.profileIDC, stream.sps.timing, stream.keyframeInterval) = (100, (1, 60), 150)
        if row.isX264 { stream.sei = SyntheticStream.x264("bframes=2 keyint=150 keyint_min=25") }
        // A warning comes first, once the interval was measured; then the faults.
        var feeder = StreamFeeder(.accessUnits, product: row.product)
        for number in 0..<302 {
            var picture = stream
            if number < 300 { picture.sps.profileIDC = 66 } else { picture.sliceType = { _ in 6 } }
            feeder.feed(picture.accessUnit(number))
        }
        feeder.pass(3)
        let sentence = feeder.sentence ?? "none"
        for words in [row.place] + row.settings { #expect(sentence.contains(words), "\(words) in: \(sentence)") }
    }

    struct Picture: Sendable, CustomTestStringConvertible {
        var testDescription: String
        /// What is sent.
        var width: Int
        var height: Int
        /// In pixels.
        var limit: Int
        /// The size that is advised.
        var size: String
    }

    static let pictures = [
        Picture(testDescription: "1080p", width: 1_920, height: 1_080, limit: 921_600, size: "1280x720"),
        Picture(testDescription: "an upright phone", width: 1_080, height: 1_920, limit: 921_600, size: "720x1280"),
        Picture(testDescription: "720p on a small stage", width: 1_280, height: 720, limit: 230_400, size: "640x360"),
        Picture(testDescription: "4K on a large stage", width: 3_840, height: 2_160, limit: 2_073_600, size: "1920x1080"),
        Picture(testDescription: "the least limit", width: 640, height: 360, limit: 25_600, size: "192x108"),
        Picture(testDescription: "wide", width: 1_720, height: 720, limit: 921_600, size: "1482x620"),
        Picture(testDescription: "4:3", width: 1_600, height: 1_200, limit: 921_600, size: "1108x830"),
        Picture(testDescription: "3:4", width: 1_200, height: 1_600, limit: 921_600, size: "830x1106"),
        Picture(testDescription: "square", width: 1_080, height: 1_080, limit: 921_600, size: "960x960"),
        Picture(testDescription: "too small", width: 90, height: 160, limit: 921_600, size: "720x1280"),
    ]

    @Test(arguments: pictures)
    func `names a size that the stage takes, in the shape of what is sent`(_ picture: Picture) {
        var (stream, rules) = (SyntheticStream(), ContractSettings())
        (stream.sps.width, stream.sps.height) = (picture.width, picture.height)
        rules.maximumResolution.limit = picture.limit
        var feeder = StreamFeeder(.accessUnits, rules: rules, product: "Lavf61")
        for number in 0..<240 where !feeder.monitor.isOver { feeder.feed(stream.accessUnit(number)) }
        let sentence = feeder.sentence ?? "none"
        #expect(sentence.contains("-s \(picture.size)"), "\(sentence)")
        let isTooLarge = picture.width * picture.height > picture.limit
        #expect(sentence.contains("in all, such as \(picture.size)") == isTooLarge, "\(sentence)")
    }

    @Test(arguments: [
        (
            100,
            ": in OBS set Output (Scaled) Resolution = 1280x720 (Settings > Video), and in Settings > Output, mode Advanced, "
                + "Profile = baseline."
        ),
        (66, ": in OBS set Output (Scaled) Resolution = 1280x720 (Settings > Video)."),
    ])
    func `tells OBS of each page once, with what is set there`(_ profile: Int, _ cure: String) {
        var stream = SyntheticStream()
        (stream.sps.width, stream.sps.height, stream.sps.profileIDC) = (1_920, 1_080, profile)
        var feeder = StreamFeeder(.accessUnits, product: "FMLE/3.0 (compatible; FMSc/1.0)")
        for number in 0..<240 where !feeder.monitor.isOver { feeder.feed(stream.accessUnit(number)) }
        let sentence = feeder.sentence ?? "none"
        #expect(sentence.hasSuffix(cure), "\(sentence)")
    }

    @Test func `tells ffmpeg of one filter alone, for the last one counts`() {
        var stream = SyntheticStream()
        (stream.sps.width, stream.sps.height, stream.sps.isProgressive) = (1_920, 1_080, false)
        var feeder = StreamFeeder(.accessUnits, product: "Lavf61")
        for number in 0..<240 where !feeder.monitor.isOver { feeder.feed(stream.accessUnit(number)) }
        let sentence = feeder.sentence ?? "none"
        #expect(sentence.contains("give ffmpeg -s 1280x720 -vf yadif without +ildct"), "\(sentence)")
    }

    @Test(arguments: [
        ("Lavf61", "give ffmpeg -profile:v baseline -pix_fmt yuv420p."),
        (
            "FMLE/3.0 (compatible; FMSc/1.0)",
            ": in OBS set Profile = baseline (Settings > Output, mode Advanced), Color Format = NV12 (Settings > Advanced)."
        ),
        ("", "set the H.264 profile to baseline, with 8 bits and 4:2:0."),
    ])
    func `names what the samples must be, where the profile follows from them`(_ product: String, _ cure: String) {
        for profile in [110, 122, 244] {
            var stream = SyntheticStream()
            stream.sps.profileIDC = profile
            var feeder = StreamFeeder(.accessUnits, product: product)
            for number in 0..<240 where !feeder.monitor.isOver { feeder.feed(stream.accessUnit(number)) }
            let sentence = feeder.sentence ?? "none"
            #expect(sentence.hasSuffix(cure), "\(profile): \(sentence)")
        }
    }

    struct Limit: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var rule: ContractRule
        var product: String
        var setting: String
        var change: @Sendable (inout ContractSettings) -> Void
    }

    static let limits = [
        Limit(
            testDescription: "OBS at 25", rule: .frameRate, product: "OBS-Studio/32.0.1", setting: "FPS = 25 (Settings > Video)"
        ) {
            $0.frameRate.maximum = 25
        },
        Limit(testDescription: "ffmpeg at 50", rule: .frameRate, product: "Lavf61", setting: "fps=50 in its -vf") {
            $0.frameRate.minimum = 50
        },
        Limit(testDescription: "sound", rule: .audioBitrate, product: "", setting: "the audio bitrate to 96 kbit/s") {
            $0.audioBitrate.limit = 96_000
        },
        Limit(
            testDescription: "GStreamer, Baseline", rule: .videoProfile, product: "GStreamer 1.28",
            setting: "caps video/x-h264,profile=constrained-baseline"
        ) { _ in },
        Limit(
            testDescription: "GStreamer, Main", rule: .videoProfile, product: "GStreamer 1.28",
            setting: "caps video/x-h264,profile=main"
        ) { $0.profile.limit = [.baseline, .constrainedBaseline, .main] },
    ]

    @Test(arguments: limits)
    func `names a value that the stage takes`(_ item: Limit) {
        var rules = ContractSettings()
        item.change(&rules)
        var feeder = StreamFeeder(.accessUnits, rules: rules, product: item.product)
        feeder.feed(SyntheticStream().accessUnit(0))
        let row = feeder.monitor.sightings.table.first { $0.rule == item.rule }
        #expect(row?.setting == item.setting)
    }
}
