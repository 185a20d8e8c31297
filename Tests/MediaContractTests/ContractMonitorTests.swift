import AAC
import H264
import MediaContract
import Refusals
import Settings
import TestSupport
import Testing
import Wire

@Suite("ContractMonitor, video")
struct ContractMonitorVideoTests {
    typealias Form = StreamFeeder.Form

    private func run(
        _ stream: SyntheticStream, _ form: Form, pictures: Int = 120, rules: ContractSettings = ContractSettings(),
        frameRate: Double = 30,
        product: String = "", seed: UInt64 = 1
    ) -> StreamFeeder {
        var feeder = StreamFeeder(form, rules: rules, product: product, seed: seed)
        feeder.frameRate = frameRate
        for number in 0..<pictures { feeder.feed(stream.accessUnit(number)) }
        return feeder
    }

    /// Each fault alone: what is changed, and what must be found first.
    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var code: RefusalCode
        var change: @Sendable (inout SyntheticStream) -> Void
    }

    static let cases: [Case] = [
        Case(testDescription: "Main", code: .videoProfile) { $0.sps.profileIDC = 77 },
        Case(testDescription: "High", code: .videoProfile) { $0.sps.profileIDC = 100 },
        Case(testDescription: "Extended", code: .videoProfile) { $0.sps.profileIDC = 88 },
        Case(testDescription: "interlaced", code: .interlacedVideo) { ($0.sps.profileIDC, $0.sps.isProgressive) = (66, false) },
        Case(testDescription: "interlaced Main", code: .interlacedVideo) {
            ($0.sps.profileIDC, $0.sps.isProgressive) = (77, false)
        },
        Case(testDescription: "slice groups", code: .sliceStructure) { $0.pps.sliceGroupCount = 2 },
        Case(testDescription: "redundant pictures", code: .sliceStructure) { $0.pps.hasRedundantPictures = true },
        Case(testDescription: "arbitrary slice order", code: .sliceStructure) { $0.firstMacroblocks = [0, 1_800, 900, 2_700] },
        Case(testDescription: "B slices", code: .bFrames) { $0.sliceType = { $0 % 3 == 1 ? 6 : 5 } },
        Case(testDescription: "B slices in Main", code: .bFrames) {
            ($0.sps.profileIDC, $0.sliceType) = (77, { $0 % 3 == 1 ? 1 : 5 })
        },
        Case(testDescription: "1080p", code: .resolutionExceeded) { ($0.sps.width, $0.sps.height) = (1_920, 1_080) },
        Case(testDescription: "1080p High", code: .resolutionExceeded) {
            ($0.sps.profileIDC, $0.sps.width, $0.sps.height) = (100, 1_920, 1_080)
        },
        Case(testDescription: "1088x1920", code: .resolutionExceeded) { ($0.sps.width, $0.sps.height) = (1_088, 1_920) },
        Case(testDescription: "12 Mbit/s", code: .bitrateExceeded) { $0.bytesPerPicture = 50_000 },
    ]

    @Test(arguments: cases, Form.allCases)
    func `finds`(_ item: Case, _ form: Form) {
        var stream = SyntheticStream()
        item.change(&stream)
        let feeder = run(stream, form, pictures: 240)
        #expect(feeder.faults.first.map { Self.code($0) } == item.code)
        #expect(feeder.news.filter { if case .disconnect = $0 { true } else { false } }.count == 1)
    }

    static func code(_ fault: ContractFault) -> RefusalCode? {
        switch fault {
        case .profile: .videoProfile
        case .interlaced: .interlacedVideo
        case .sliceGroups, .arbitrarySliceOrder, .redundantPictures: .sliceStructure
        case .bFrames: .bFrames
        case .resolutionAbove: .resolutionExceeded
        case .resolutionBelow: .resolutionTooSmall
        case .videoBitrate: .bitrateExceeded
        default: nil
        }
    }

    static let good: [Case] = [
        Case(testDescription: "720p", code: .videoCodec) { _ in },
        Case(testDescription: "720x1280", code: .videoCodec) { ($0.sps.width, $0.sps.height) = (720, 1_280) },
        Case(testDescription: "284x160", code: .videoCodec) { ($0.sps.width, $0.sps.height) = (284, 160) },
        Case(testDescription: "4:3", code: .videoCodec) { ($0.sps.width, $0.sps.height) = (960, 720) },
        Case(testDescription: "plain Baseline", code: .videoCodec) { $0.sps.constraintFlags = 0 },
        Case(testDescription: "four slices", code: .videoCodec) { $0.firstMacroblocks = [0, 900, 1_800, 2_700] },
        Case(testDescription: "all intra", code: .videoCodec) { $0.keyframeInterval = 1 },
        Case(testDescription: "8 Mbit/s", code: .videoCodec) { $0.bytesPerPicture = 33_333 },
        Case(testDescription: "x264 with a good interval", code: .videoCodec) {
            $0.sei = SyntheticStream.x264("bframes=0 keyint=60 keyint_min=6")
        },
        Case(testDescription: "x264 that is forced to a good interval", code: .videoCodec) {
            ($0.sps.timing, $0.sei) = ((1, 60), SyntheticStream.x264("bframes=0 keyint=250 keyint_min=25"))
        },
    ]

    @Test(arguments: good, Form.allCases)
    func `leaves alone`(_ item: Case, _ form: Form) {
        var stream = SyntheticStream()
        item.change(&stream)
        #expect(run(stream, form, pictures: 900).news == [])
    }

    @Test
    func `what x264 says of its keyframes is no ground once they come sooner`() {
        var (stream, rules) = (SyntheticStream(), ContractSettings())
        rules[.keyframeInterval] = .disconnect
        (stream.sps.timing, stream.sei) = ((1, 60), SyntheticStream.x264("bframes=0 keyint=250 keyint_min=25"))
        var feeder = StreamFeeder(.accessUnits, rules: rules)
        for number in 0..<300 { feeder.feed(stream.accessUnit(number)) }
        #expect(feeder.news == [])
        stream.sps.profileIDC = 100
        for number in 300..<420 { feeder.feed(stream.accessUnit(number)) }
        #expect(feeder.faults.map(\.rule) == [.videoProfile])
    }

    @Test
    func `an untouched OBS is told its three faults in one sentence`() {
        var stream = SyntheticStream()
        (stream.sps.profileIDC, stream.sps.timing, stream.keyframeInterval) = (100, (1, 60), 250)
        stream.sliceType = { $0 % 3 == 0 ? 5 : 6 }
        stream.sei = SyntheticStream.x264("cabac=1 bframes=2 keyint=250 keyint_min=25")
        let feeder = run(stream, .accessUnits, product: "FMLE/3.0 (compatible; FMSc/1.0)")
        #expect(feeder.faults.first?.rule == .bFrames)
        let sentence = feeder.sentence ?? ""
        for words in [
            "High profile", "2 B-frames", "keyframe every 8.3 s", "bframes=0", "Profile = baseline", "Keyframe Interval = 2 s",
            "OBS",
        ] {
            #expect(sentence.contains(words), "\(words) in: \(sentence)")
        }
        #expect(feeder.index <= 120)
    }

    @Test(arguments: Form.allCases)
    func `B-frames and sizes that come in mid-stream are found at once, once a picture uses them`(_ form: Form) {
        let stream = SyntheticStream()
        var larger = SyntheticStream()
        (larger.sps.width, larger.sps.height) = (1_920, 1_080)
        var feeder = StreamFeeder(form)
        for number in 0..<300 { feeder.feed(stream.accessUnit(number)) }
        // The new set arrives early, and pictures still use the old one by another id.
        var unused = larger.sps
        unused.id = 1
        feeder.feed([unused.bytes] + stream.accessUnit(0))
        for number in 1..<60 { feeder.feed(stream.accessUnit(number)) }
        #expect(feeder.news == [])
        let changedAt = feeder.index
        while feeder.faults.isEmpty, feeder.index < changedAt + 100 { feeder.feed(larger.accessUnit(feeder.index - changedAt)) }
        #expect(feeder.faults == [.resolutionAbove(width: 1_920, height: 1_080)])
        #expect(feeder.index - changedAt <= 32)
    }

    @Test
    func `a lost start fragment says nothing, a lost packet is no arbitrary order`() {
        var stream = SyntheticStream()
        stream.firstMacroblocks = [0, 900, 1_800, 2_700]
        var feeder = StreamFeeder(.singleUnits)
        var generator = SplitMix64(seed: 7)
        for number in 0..<900 {
            for unit in stream.accessUnit(number) {
                if generator.next() % 10 == 0 { feeder.lose() } else { feeder.feed(payload: unit) }
            }
            feeder.feed([])
        }
        #expect(feeder.news == [])
    }

    /// An encoder that began anew: every packet stood behind the last of the source before, so that nothing followed on anything.
    @Test(arguments: [Form.singleUnits, .fragmented])
    func `a source whose numbers begin lower is judged like the one before`(_ form: Form) {
        var stream = SyntheticStream()
        var feeder = StreamFeeder(form)
        for number in 0..<60 { feeder.feed(stream.accessUnit(number)) }
        #expect(feeder.news == [])
        feeder.lose(-60_000)
        stream.firstMacroblocks = [0, 1_800, 900, 2_700]
        for number in 60..<240 { feeder.feed(stream.accessUnit(number)) }
        #expect(feeder.faults == [.arbitrarySliceOrder])
    }

    @Test
    func `packets late by a picture are no arbitrary order`() {
        var feeder = StreamFeeder(.singleUnits)
        let stream = SyntheticStream()
        for number in 0..<100 { feeder.feed(stream.accessUnit(number)) }
        let moment = feeder.moment(at: feeder.time - 0.1)
        for first in [900, 450] {
            var slice = SliceBuilder()
            slice.firstMacroblock = first
            var found = NALUnitList()
            slice.bytes.withUnsafeBytes {
                found.find(inPayload: $0)
                feeder.monitor.rtpPayload(found, sequenceNumber: 65_600, at: moment)
            }
        }
        for number in 100..<200 { feeder.feed(stream.accessUnit(number)) }
        #expect(feeder.news == [])
    }

    @Test
    func `159 lines end an RTMP publish, and a WHIP one only when they last from the start`() {
        var small = SyntheticStream()
        (small.sps.width, small.sps.height) = (282, 158)
        #expect(run(small, .accessUnits).faults.map(\.rule) == [.minimumResolution])

        let lasting = run(small, .fragmented, pictures: 29 * 30)
        #expect(lasting.faults.isEmpty)
        #expect(lasting.warnings.map(\.fault.rule) == [.minimumResolution])
        #expect(run(small, .fragmented, pictures: 31 * 30).faults.map(\.rule) == [.minimumResolution])

        var ramp = StreamFeeder(.fragmented)
        for number in 0..<600 { ramp.feed(small.accessUnit(number)) }
        for number in 0..<60 { ramp.feed(SyntheticStream().accessUnit(number)) }
        for number in 0..<1_200 { ramp.feed(small.accessUnit(number)) }
        #expect(ramp.faults.isEmpty)
    }

    @Test
    func `rules that warn or are off do not disconnect`() {
        var stream = SyntheticStream()
        stream.sps.profileIDC = 100
        stream.sliceType = { $0 % 3 == 0 ? 5 : 6 }
        var rules = ContractSettings()
        (rules[.videoProfile], rules[.bFrames]) = (.warn, .off)
        let feeder = run(stream, .accessUnits, pictures: 3_600, rules: rules)
        #expect(feeder.faults.isEmpty)
        #expect(feeder.warnings.map(\.fault.rule) == [.videoProfile])
        rules = ContractSettings()
        (rules.profile.limit, rules[.bFrames]) = ([.baseline, .high], .off)
        #expect(run(stream, .accessUnits, rules: rules).news == [])
    }

    @Test
    func `new limits hold from the next picture on`() {
        var feeder = StreamFeeder(.accessUnits)
        let stream = SyntheticStream()
        for number in 0..<90 { feeder.feed(stream.accessUnit(number)) }
        var rules = ContractSettings()
        rules.maximumResolution.limit = 640 * 360
        feeder.monitor.apply(rules)
        for number in 90..<150 { feeder.feed(stream.accessUnit(number)) }
        #expect(feeder.faults.map(\.rule) == [.maximumResolution])
    }

    @Test(arguments: [(10.0, false), (59.94, false), (60.0, false), (5.0, true), (90.0, true)])
    func `frame rates outside 10 to 60 warn once a minute`(_ rate: Double, _ warns: Bool) {
        var stream = SyntheticStream()
        stream.keyframeInterval = Int(rate)
        for form in [StreamFeeder.Form.accessUnits, .singleUnits] {
            let feeder = run(stream, form, pictures: Int(rate * 30), frameRate: rate)
            #expect(feeder.warnings.map(\.fault.rule).filter { $0 != .audioBitrate } == (warns ? [.frameRate] : []))
        }
    }

    /// Three pictures of four, and those of 2.5 s in 3: what is missing is no frame rate of the encoder's.
    @Test(arguments: [(3, 4), (75, 90)])
    func `what the way loses makes no low frame rate`(_ lost: Int, _ period: Int) {
        var feeder = StreamFeeder(.singleUnits)
        let stream = SyntheticStream()
        for number in 0..<900 {
            if number % period >= period - lost {
                feeder.loseAccessUnit()
            } else {
                feeder.feed(stream.accessUnit(number))
            }
        }
        #expect(!feeder.warnings.contains { $0.fault.rule == .frameRate } && feeder.faults.isEmpty)
    }

    @Test
    func `a long keyframe interval warns when measured, on RTMP alone`() {
        var stream = SyntheticStream()
        stream.keyframeInterval = 150
        let feeder = run(stream, .accessUnits, pictures: 400)
        #expect(feeder.warnings.map(\.fault) == [.keyframeInterval(seconds: 5)])
        #expect(run(stream, .fragmented, pictures: 400).news == [])
    }

    /// As by intra refresh, or from a relay whose encoder sends keyframes only when asked.
    @Test(arguments: [0, 1])
    func `keyframes that stop or never come are a long interval when none has come for 15 s`(_ first: Int) {
        var stream = SyntheticStream()
        stream.keyframeInterval = 10_000
        var feeder = StreamFeeder(.accessUnits)
        feeder.feed([stream.sps.bytes, stream.pps.bytes] + stream.accessUnit(first))
        for number in (first + 1)..<(first + 450) { feeder.feed(stream.accessUnit(number)) }
        #expect(feeder.news == [])
        feeder.feed(stream.accessUnit(first + 450))
        #expect(feeder.warnings.map(\.fault) == [.keyframeInterval(seconds: 15)] && feeder.faults.isEmpty)
    }
}
