import MediaContract
import TestSupport
import Testing

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
            settings: ["Max B-frames = 0 and Look-ahead off", "Profile = baseline", "Keyframe Interval = 2 s"]),
        Row(
            testDescription: "OBS by WHIP", product: "Mozilla/5.0 (OBS-Studio/32.2.2+ds-1+b2; Linux x86_64; en-US)", isX264: true,
            place: "in OBS", settings: ["x264 Options = bframes=0", "Profile = baseline"]),
        Row(
            testDescription: "ffmpeg", product: "FMLE/3.0 (compatible; Lavf59.27.100)", isX264: true, place: "give ffmpeg",
            settings: ["-bf 0", "-profile:v baseline", "-force_key_frames 'expr:gte(t,n_forced*2)'"]),
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
}
