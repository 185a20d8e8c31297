import AAC
import H264
import Refusals
import Settings
import TestSupport
import Testing
import Wire

@testable import MediaContract

@Suite("ContractStanding")
struct ContractStandingTests {
    private static let obs = "FMLE/3.0 (compatible; FMSc/1.0)"

    private static func fed(
        _ stream: SyntheticStream, _ form: StreamFeeder.Form = .accessUnits, rules: ContractSettings = ContractSettings(),
        product: String = obs, seconds: Int = 8
    ) -> StreamFeeder {
        var feeder = StreamFeeder(form, rules: rules, product: product)
        for number in 0..<(30 * seconds) where !feeder.monitor.isOver { feeder.feed(stream.accessUnit(number)) }
        return feeder
    }

    private static func row(_ rule: ContractRule, of feeder: StreamFeeder) -> RuleStanding? {
        feeder.monitor.sightings.table.first { $0.rule == rule }
    }

    @Test
    func `a stream as it should be keeps every rule, and each row tells what was seen`() {
        let table = Self.fed(SyntheticStream()).monitor.sightings.table
        #expect(table.map(\.rule) == ContractRule.allCases)
        #expect(table.allSatisfy { $0.isKept == true }, "\(table)")
        let words = Dictionary(uniqueKeysWithValues: table.map { ($0.rule, "\($0.limit) | \($0.seen ?? "-")") })
        #expect(words[.videoCodec] == "H.264 | H.264, progressive")
        #expect(words[.videoProfile] == "baseline | Baseline")
        #expect(words[.bFrames] == "none | none")
        #expect(words[.maximumResolution] == "at most 921600 in all, such as 1280x720 | 1280x720 pixels")
        #expect(words[.videoBitrate]?.hasPrefix("at most 8.5 Mbit/s | 0.2") == true, "\(words)")
        #expect(words[.audioCodec] == "AAC-LC, Opus | Opus")
        #expect(words[.tracks] == "video and audio are required | video and audio")
        #expect(words[.duration] == "at most 24 h 0 min | 0 h 0 min")
        #expect(words[.audioBitrate] == "at most 160 kbit/s | 72 kbit/s")
        #expect(words[.frameRate] == "10 to 60 | 30")
        #expect(words[.keyframeInterval] == "at most 2 s | 2 s")
        #expect(table.first { $0.rule == .keyframeInterval }?.setting == "Keyframe Interval = 2 s")
    }

    @Test
    func `what ended it is not ok, and the row has the setting of the encoder at hand`() {
        var stream = SyntheticStream()
        stream.sliceType = { $0 % 3 == 0 ? 5 : 6 }
        stream.sei = SyntheticStream.x264("bframes=2")
        let feeder = Self.fed(stream)
        let row = Self.row(.bFrames, of: feeder)
        #expect(row?.isKept == false)
        #expect(row?.seen == "2 B-frames" && row?.limit == "none")
        #expect(row?.setting == "x264 Options = bframes=0")
        #expect(Self.row(.maximumResolution, of: feeder)?.isKept == true)
        #expect(Self.row(.bFrames, of: Self.fed(stream, product: "Lavf61"))?.setting == "-bf 0")
    }

    @Test
    func `what is only warned of is not ok for as long as it is so`() {
        var rules = ContractSettings()
        rules[.videoProfile] = .warn
        var stream = SyntheticStream()
        stream.sps.profileIDC = 100
        var feeder = Self.fed(stream, rules: rules, seconds: 70)
        #expect(Self.row(.videoProfile, of: feeder)?.isKept == false, "judged once, a minute ago")
        #expect(Self.row(.videoProfile, of: feeder)?.seen == "High profile")
        #expect(Self.row(.videoProfile, of: feeder)?.action == .warn)
        for number in 0..<60 { feeder.feed(SyntheticStream().accessUnit(number)) }
        #expect(Self.row(.videoProfile, of: feeder)?.isKept == true, "other parameter sets")
    }

    @Test
    func `audio that was of another codec is judged anew where the known one comes again, and where Opus follows`() throws {
        var rules = ContractSettings()
        rules[.audioCodec] = .warn
        var feeder = StreamFeeder(.accessUnits, rules: rules)
        let bytes: [UInt8] = [0x12, 0x08]
        let lowComplexity = try AudioSpecificConfig(parsing: bytes.span.bytes)
        feeder.monitor.audioConfiguration(lowComplexity, at: feeder.moment.arrival)
        for isOpus in [false, true] {
            feeder.monitor.audioCodecAnnounced("MP3", at: feeder.moment.arrival)
            #expect(Self.row(.audioCodec, of: feeder)?.isKept == false)
            if isOpus {
                feeder.monitor.opusConfiguration(channelCount: 2, at: feeder.moment.arrival)
            } else {
                feeder.monitor.audioConfiguration(lowComplexity, at: feeder.moment.arrival)
            }
            #expect(Self.row(.audioCodec, of: feeder)?.isKept == true)
            #expect(Self.row(.audioCodec, of: feeder)?.seen == (isOpus ? "Opus" : "AAC-LC"))
        }
    }

    @Test
    func `a rule that is off is neither, and what nobody looks at has not been seen`() {
        var rules = ContractSettings()
        (rules[.bFrames], rules[.videoBitrate]) = (.off, .off)
        var stream = SyntheticStream()
        stream.sliceType = { $0 % 3 == 0 ? 5 : 6 }
        let feeder = Self.fed(stream, rules: rules)
        #expect(Self.row(.bFrames, of: feeder)?.isKept == nil && Self.row(.bFrames, of: feeder)?.seen == nil)
        #expect(Self.row(.videoBitrate, of: feeder)?.isKept == nil && Self.row(.videoBitrate, of: feeder)?.seen != nil)
    }

    @Test
    func `a WHIP publish is judged by fewer rules, until it heeds no request`() {
        var feeder = Self.fed(SyntheticStream(), .singleUnits)
        #expect(Self.row(.tracks, of: feeder) == nil && Self.row(.keyframeInterval, of: feeder) == nil)
        feeder.monitor.keyframesCannotBeRequested()
        #expect(Self.row(.keyframeInterval, of: feeder)?.isKept == true)
    }

    @Test(arguments: StreamFeeder.Form.allCases)
    func `what the encoder reports is counted in whatever form it comes`(_ form: StreamFeeder.Form) {
        var stream = SyntheticStream()
        stream.sei = PerformanceBuilder(PerformanceBuilder.rendition, [(1, 100), (2, 12), (3, 88)]).bytes
        let figures = Self.fed(stream, form).monitor.sightings.encoder
        #expect((figures.input, figures.skipped, figures.encoded) == (300, 36, 264), "four keyframes, the first one's left out")
        #expect(figures.verdict == "the encoder's machine skipped 12 % of its frames: use a faster preset")
    }

    @Test
    func `messages that make no sense count nothing and change no verdict`() {
        let whole = PerformanceBuilder(PerformanceBuilder.session, [(1, 120), (2, 3), (3, 0), (4, 120)]).bytes
        for length in [1, 2, 3, 18, 30, whole.count - 8] {
            var stream = SyntheticStream()
            stream.sei = Array(whole.prefix(length))
            let feeder = Self.fed(stream, seconds: 5)
            #expect(feeder.monitor.sightings.encoder.reportCount == 0)
            #expect(feeder.faults.isEmpty && feeder.warnings.isEmpty)
        }
    }

    @Test
    func `other threads see it a second old, and whole when it has ended`() {
        let publisher = ContractPublisher(credential: "abc", source: .loopback, product: Self.obs)
        let session = ContractSession(context: ContractContext(), ingest: .rtmp, publisher: publisher)
        #expect(session.standing.rules.isEmpty && session.standing.encoder.reportCount == 0)
        let report = PerformanceBuilder(PerformanceBuilder.session, [(1, 120), (2, 3), (3, 0), (4, 120)]).bytes
        let unit: [UInt8] = [0, 0, 0, UInt8(report.count)] + report
        var found = NALUnitList()
        unit.withUnsafeBytes {
            found.find(inAccessUnit: $0, lengthSize: 4)
            for time in 1...2 {
                _ = session.accessUnit(
                    found, timestamp: Int64(time) * 90_000, arrival: .init(nanoseconds: Int64(time) * 1_000_000_000))
            }
        }
        #expect(session.standing.encoder.rendered == 0)
        session.ended()
        #expect(session.standing.encoder.rendered == 120)
        #expect(session.standing.rules.map(\.rule) == ContractRule.allCases)
    }
}
