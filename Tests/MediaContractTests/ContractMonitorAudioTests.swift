import AAC
import MediaContract
import Settings
import TestSupport
import Testing
import Wire

@Suite("ContractMonitor, audio and tracks")
struct ContractMonitorAudioTests {
    static let configurations: [(String, [UInt8], ContractRule?)] = [
        ("LC 48 kHz", [0x11, 0x90, 0x56, 0xE5, 0x00], nil), ("LC 44.1 kHz mono", [0x12, 0x08], nil),
        ("HE-AAC explicit", [0x2B, 0x11, 0x88, 0x00], .audioCodec),
        ("HE-AAC implicit", [0x13, 0x10, 0x56, 0xE5, 0x98], .audioCodec),
        (
            "5.1(side) by ffmpeg's program config element",
            [0x11, 0x80, 0x04, 0xC8, 0x41, 0x00, 0x01, 0x08, 0x00, 0x04, 0x4C, 0x61, 0x76, 0x63, 0x56, 0xE5, 0x00], .audioFormat
        ),
        ("96 kHz", [0x10, 0x10], .audioFormat), ("5.1", [0x11, 0xB0], .audioFormat), ("32 kHz", [0x12, 0x90], .audioFormat),
        ("22.2", [0x11, 0xE8], .audioFormat),
    ]

    @Test(arguments: configurations)
    func `judges the sequence header`(_ name: String, _ bytes: [UInt8], _ rule: ContractRule?) throws {
        var feeder = StreamFeeder(.accessUnits)
        feeder.monitor.audioConfiguration(try AudioSpecificConfig(parsing: bytes.span.bytes), at: feeder.moment.arrival)
        for number in 0..<90 { feeder.feed(SyntheticStream().accessUnit(number)) }
        #expect(feeder.faults.first?.rule == rule)
    }

    @Test(
        arguments: [
            ([0x12, 0x88], "32 kHz and 1 channel"), ([0x13, 0x90], "22.05 kHz and 2 channels"),
            ([0x15, 0x08], "11.025 kHz and 1 channel"),
        ] as [([UInt8], String)])
    func `says what the audio is, as its user set it`(_ bytes: [UInt8], _ words: String) throws {
        var feeder = StreamFeeder(.accessUnits)
        feeder.monitor.audioConfiguration(try AudioSpecificConfig(parsing: bytes.span.bytes), at: feeder.moment.arrival)
        for number in 0..<90 { feeder.feed(SyntheticStream().accessUnit(number)) }
        #expect(feeder.sentence?.hasPrefix("audio of \(words) (allowed: 44.1 or 48 kHz, at most 2 channels)") == true)
    }

    @Test(arguments: ["HEVC", "AV1"])
    func `other video codecs are refused at once by name`(_ name: String) {
        var feeder = StreamFeeder(.accessUnits, product: "FMLE/3.0 (compatible; Lavf63.1.102)")
        feeder.monitor.videoCodecAnnounced(name, at: feeder.moment.arrival)
        feeder.takeNews()
        #expect(feeder.sentence == "\(name) video (allowed: H.264): give ffmpeg -c:v libx264.")
    }

    @Test(arguments: [ContractAction.warn, .off])
    func `a codec that was let pass is refused once the rules say so`(_ former: ContractAction) {
        var rules = ContractSettings()
        (rules[.audioCodec], rules[.videoCodec], rules[.tracks]) = (former, former, .off)
        var (audio, video) = (StreamFeeder(.accessUnits, rules: rules), StreamFeeder(.accessUnits, rules: rules))
        audio.monitor.audioCodecAnnounced("MP3", at: audio.moment.arrival)
        video.monitor.videoCodecAnnounced("HEVC", at: video.moment.arrival)
        (rules[.audioCodec], rules[.videoCodec]) = (.disconnect, .disconnect)
        audio.monitor.apply(rules)
        video.monitor.apply(rules)
        audio.pass(3)
        video.pass(1)
        #expect(audio.faults == [.audioCodec(name: "MP3")])
        #expect(video.faults == [.videoCodec(name: "HEVC")])
    }

    @Test
    func `MP3 waits for the picture's faults and names both`() {
        var stream = SyntheticStream()
        stream.sps.profileIDC = 100
        var feeder = StreamFeeder(.accessUnits)
        feeder.monitor.audioCodecAnnounced("MP3", at: feeder.moment.arrival)
        for number in 0..<90 { feeder.feed(stream.accessUnit(number)) }
        #expect(feeder.faults.map(\.rule) == [.videoProfile, .audioCodec])
        #expect(feeder.sentence?.contains("MP3 audio") ?? false)
    }

    @Test
    func `MP3 without pictures is told after two seconds`() {
        var feeder = StreamFeeder(.accessUnits)
        feeder.monitor.audioCodecAnnounced("MP3", at: feeder.moment.arrival)
        feeder.pass(1.9)
        #expect(feeder.news == [])
        feeder.pass(2.1)
        #expect(feeder.faults.map(\.rule) == [.audioCodec])
    }

    @Test
    func `a missing track ends an RTMP publish after five seconds, and no WHIP publish`() {
        var videoOnly = StreamFeeder(.accessUnits, hasAudio: false)
        for number in 0..<149 { videoOnly.feed(SyntheticStream().accessUnit(number)) }
        #expect(videoOnly.news == [])
        for number in 149..<165 { videoOnly.feed(SyntheticStream().accessUnit(number)) }
        #expect(videoOnly.faults == [.missingAudio])

        var audioOnly = StreamFeeder(.accessUnits)
        audioOnly.monitor.audioFrame(byteCount: 300, at: audioOnly.moment)
        audioOnly.pass(4.9)
        #expect(audioOnly.news == [])
        audioOnly.pass(5.1)
        #expect(audioOnly.faults == [.missingVideo])

        var whip = StreamFeeder(.fragmented, hasAudio: false)
        for number in 0..<600 { whip.feed(SyntheticStream().accessUnit(number)) }
        #expect(whip.news == [])
    }

    @Test
    func `pictures whose parameter sets never came are no video, and the sentence says so`() {
        var feeder = StreamFeeder(.accessUnits, product: "Lavf61")
        for _ in 0..<170 { feeder.feed([SliceBuilder().bytes]) }
        #expect(feeder.faults == [.undescribedVideo])
        let sentence = feeder.sentence ?? "none"
        #expect(sentence.hasPrefix("video without parameter sets that can be read (required"), "\(sentence)")
        #expect(sentence.contains("give ffmpeg -flags +global_header"), "\(sentence)")
    }

    @Test
    func `media that nothing can be read of is no track, and one sentence says that both came`() {
        var feeder = StreamFeeder(.accessUnits)
        feeder.monitor.unreadableAudioCame(at: feeder.moment.arrival)
        feeder.monitor.unreadableVideoCame(at: feeder.moment.arrival)
        feeder.pass(4.9)
        #expect(feeder.news == [])
        feeder.pass(5.1)
        #expect(feeder.faults == [.undescribedVideo, .undescribedAudio])
        let sentence = feeder.sentence ?? "none"
        #expect(sentence.hasPrefix("video without parameter sets that can be read"), "\(sentence)")
        #expect(sentence.contains("audio without a configuration that can be read"), "\(sentence)")
    }

    @Test
    func `24 hours are the most`() {
        var feeder = StreamFeeder(.accessUnits, product: "FMLE/3.0 (compatible; FMSc/1.0)")
        for number in 0..<60 { feeder.feed(SyntheticStream().accessUnit(number)) }
        feeder.pass(24 * 3_600 - 3)
        #expect(feeder.news == [])
        feeder.pass(24 * 3_600)
        #expect(feeder.faults.map(\.rule) == [.duration])
        #expect(feeder.sentence == "live for 24 h 0 min, the longest allowed: start the stream again.")
    }

    @Test(arguments: [(160, false), (172, false), (192, true)])
    func `audio over 160 kbit/s warns`(_ kilobits: Int, _ warns: Bool) {
        var feeder = StreamFeeder(.accessUnits)
        for index in 0..<600 {
            let moment = MediaMoment(
                mediaTime: Int64(index * 1_024), arrival: MonotonicTime(nanoseconds: Int64(index) * 21_333_333))
            feeder.monitor.audioFrame(byteCount: kilobits * 128 / 48, at: moment)
        }
        feeder.takeNews()
        #expect(feeder.warnings.map(\.fault.rule).contains(.audioBitrate) == warns)
    }
}
