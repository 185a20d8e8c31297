import H264
import Refusals
import Settings
import StageHub
import TestSupport
import Testing
import Wire

@testable import MediaContract

@Suite("ContractMonitor, layers")
struct ContractLayersTests {
    typealias Form = StreamFeeder.Form
    typealias Change = @Sendable (inout SyntheticStream) -> Void

    @Test func `as many layers are judged as are told apart`() {
        #expect(MediaContract.ByLayer<Int>.count == PublishCounters.maximumLayerCount)
    }

    static let names: [UInt8: String] = [0: "hi", 1: "mid", 2: "low"]
    static let sizes: [(width: Int, height: Int)] = [(1_280, 720), (640, 360), (320, 180)]
    static let forms: [Form] = [.accessUnits, .fragmented]

    static func stream(_ width: Int, _ height: Int, bytesPerPicture: Int = 1_000) -> SyntheticStream {
        var stream = SyntheticStream()
        (stream.sps.width, stream.sps.height, stream.bytesPerPicture) = (width, height, bytesPerPicture)
        return stream
    }

    /// Three layers as they should be.
    static func ladder() -> [SyntheticStream] { sizes.map { stream($0.width, $0.height) } }

    /// Layers by place, until a verdict or the last picture.
    static func run(
        _ layers: [SyntheticStream], _ form: Form, pictures: Int = 240, names: [UInt8: String] = names,
        rules: ContractSettings = ContractSettings(), product: String = ""
    ) -> StreamFeeder {
        var feeder = StreamFeeder(form, rules: rules, product: product)
        feeder.monitor.name(layers: names)
        for number in 0..<pictures where feeder.faults.isEmpty { feed(layers, number, to: &feeder) }
        return feeder
    }

    static func feed(_ layers: [SyntheticStream], _ number: Int, to feeder: inout StreamFeeder) {
        let units = layers.map { $0.accessUnit(number) }
        switch units.count {
        case 1: feeder.feed(layers: [0: units[0]])
        case 2: feeder.feed(layers: [0: units[0], 1: units[1]])
        default: feeder.feed(layers: [0: units[0], 1: units[1], 2: units[2]])
        }
    }

    // MARK: Rule by rule

    struct Case: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var rule: ContractRule
        var words: String
        var change: Change
    }

    static let cases: [Case] = [
        Case(testDescription: "Main", rule: .videoProfile, words: "Main profile (allowed: baseline)") { $0.sps.profileIDC = 77 },
        Case(testDescription: "interlaced", rule: .videoCodec, words: "interlaced video (allowed: progressive)") {
            $0.sps.isProgressive = false
        },
        Case(testDescription: "slice groups", rule: .videoProfile, words: "FMO slice groups (allowed: none)") {
            $0.pps.sliceGroupCount = 2
        },
        Case(testDescription: "slice order", rule: .videoProfile, words: "arbitrary slice order (allowed: none)") {
            $0.firstMacroblocks = [0, 1_800, 900, 2_700]
        },
        Case(testDescription: "B slices", rule: .bFrames, words: "B-frames (allowed: none)") {
            $0.sliceType = { $0 % 3 == 1 ? 6 : 5 }
        },
        Case(testDescription: "two B-frames", rule: .bFrames, words: "2 B-frames (allowed: none)") {
            ($0.sei, $0.sliceType) = (SyntheticStream.x264("bframes=2"), { $0 % 3 == 0 ? 5 : 6 })
        },
    ]

    @Test(arguments: cases, 0..<3)
    func `each layer is judged by itself, and named`(_ item: Case, _ place: Int) {
        for form in Self.forms {
            var layers = Self.ladder()
            item.change(&layers[place])
            let feeder = Self.run(layers, form)
            let label = "\(Self.names[UInt8(place)] ?? "") (\(Self.sizes[place].width)x\(Self.sizes[place].height))"
            #expect(feeder.faults.map(\.rule) == [item.rule])
            #expect(feeder.sentence?.hasPrefix("layer \(label): \(item.words). Set ") == true, "\(feeder.sentence ?? "-")")
            #expect(feeder.sentence?.contains("layers") == false)
        }
    }

    @Test(arguments: forms)
    func `a layer too large is named by what it is`(_ form: Form) {
        var layers = Self.ladder()
        layers[1] = Self.stream(1_920, 1_080)
        let sentence = Self.run(layers, form).sentence
        #expect(
            sentence?.hasPrefix("layer mid (1920x1080): 1920x1080 pixels (at most 921600 in all") == true, "\(sentence ?? "-")")
    }

    @Test(arguments: forms)
    func `what all layers have in common is told once`(_ form: Form) {
        let layers = Self.ladder().map { stream in
            var stream = stream
            (stream.sps.profileIDC, stream.sliceType) = (100, { $0 % 3 == 0 ? 5 : 6 })
            stream.sei = SyntheticStream.x264("bframes=2")
            return stream
        }
        let feeder = Self.run(layers, form, product: "FMLE/3.0 (compatible; FMSc/1.0)")
        #expect(
            feeder.sentence
                == "layers hi (1280x720), mid (640x360), low (320x180): 2 B-frames (allowed: none), "
                + "High profile (allowed: baseline). In OBS (Settings > Output, mode Advanced) set x264 Options = bframes=0, "
                + "Profile = baseline.")
    }

    @Test
    func `what differs is told of each, and a fault of the whole publish of none`() {
        var layers = Self.ladder()
        (layers[0].sps.profileIDC, layers[2].sps.profileIDC) = (77, 100)
        var feeder = StreamFeeder(.accessUnits, product: "Lavf61")
        feeder.monitor.name(layers: Self.names)
        Self.feed(layers, 0, to: &feeder)
        feeder.monitor.audioCodecAnnounced("MP3", at: feeder.moment.arrival)
        for number in 1..<60 { Self.feed(layers, number, to: &feeder) }
        #expect(
            feeder.sentence
                == "layer hi (1280x720): Main profile (allowed: baseline); layer low (320x180): High profile (allowed: baseline); "
                + "MP3 audio (allowed: AAC-LC, Opus). Give ffmpeg -profile:v baseline -c:a aac.")
    }

    @Test
    func `a layer without a name goes by its size, and one layer alone by nothing`() {
        var layers = Self.ladder()
        layers[2].sps.profileIDC = 77
        let words = "Main profile (allowed: baseline)"
        #expect(Self.run(layers, .accessUnits, names: [:]).sentence?.hasPrefix("layer 320x180: \(words). ") == true)
        #expect(Self.run([layers[2]], .accessUnits).sentence == "\(words): set the H.264 profile to baseline.")
    }

    @Test
    func `B-frames wait for those of the other layers, by the clock when their own layer falls silent`() {
        var layers = Self.ladder()
        layers[0].sliceType = { $0 % 3 == 0 ? 5 : 6 }
        var feeder = StreamFeeder(.accessUnits)
        for number in 0..<10 { Self.feed(layers, number, to: &feeder) }
        #expect(feeder.faults.isEmpty)
        for number in 10..<80 {
            feeder.feed(layers: [1: layers[1].accessUnit(number), 2: layers[2].accessUnit(number)])
        }
        #expect(feeder.faults.map(\.rule) == [.bFrames])
    }

    // MARK: Bitrate

    @Test(arguments: forms)
    func `the sum of all layers counts, each of them below the limit`(_ form: Form) {
        // 3.4 Mbit/s each.
        let layers = Self.sizes.map { Self.stream($0.width, $0.height, bytesPerPicture: 14_166) }
        for layer in layers { #expect(Self.run([layer], form, pictures: 900).news == []) }
        #expect(Self.run(Array(layers.prefix(2)), form, pictures: 900).news == [])
        let feeder = Self.run(layers, form, pictures: 900)
        #expect(feeder.faults.map(\.rule) == [.videoBitrate])
        #expect(feeder.time < 8)
        let expected =
            "all layers together: video at 10.* Mbit/s (at most 8.5). Set the bitrates of all layers to 5950 kbit/s together."
        #expect(feeder.sentence.map { $0.replacing(/10\.\d/, with: "10.*") } == expected, "\(feeder.sentence ?? "-")")
    }

    @Test(arguments: forms)
    func `layers of 8 Mbit/s in all are left alone, one of them paused now and then`(_ form: Form) {
        let layers = zip(Self.sizes, [20_000, 9_000, 4_300]).map { Self.stream($0.width, $0.height, bytesPerPicture: $1) }
        var feeder = StreamFeeder(form)
        for number in 0..<1_800 {
            let units = layers.map { $0.accessUnit(number) }
            if number / 200 % 2 == 0 {
                feeder.feed(layers: [0: units[0], 1: units[1], 2: units[2]])
            } else {
                feeder.feed(layers: [2: units[2], 1: units[1]])
            }
        }
        #expect(feeder.news == [])
    }

    // MARK: Too little

    /// What IVS's SDKs send, and what a browser makes of a small camera.
    static let ladders: [[(Int, Int)]] = [
        [(1_280, 720), (640, 360), (320, 180)], [(1_280, 720), (320, 180)], [(960, 540), (320, 180)], [(640, 360), (320, 180)],
        [(480, 270)], [(320, 180)], [(720, 1_280), (360, 640), (180, 320)], [(640, 360), (320, 180), (160, 90)],
        [(640, 360), (160, 90)],
    ]

    @Test(arguments: ladders)
    func `small layers beside a larger one are no fault, whichever comes first`(_ ladder: [(Int, Int)]) {
        for form in Self.forms {
            let layers = ladder.map { Self.stream($0.0, $0.1) }
            for layers in [layers, layers.reversed()] {
                let feeder = Self.run(layers, form, pictures: 300)
                #expect(feeder.faults.isEmpty)
                #expect(form != .accessUnits || feeder.news == [], "RTMP's tracks all come at once")
            }
        }
    }

    @Test
    func `the largest layer is too small: RTMP ends at once, WHIP after 30 s`() {
        let layers = [Self.stream(128, 72), Self.stream(282, 158)]
        for (form, pictures) in [(Form.accessUnits, 60), (.fragmented, 31 * 30)] {
            let feeder = Self.run(layers, form, pictures: pictures)
            #expect(feeder.faults == [.resolutionBelow(width: 282, height: 158)])
            #expect(feeder.sentence?.hasPrefix("layer mid (282x158): 282x158 pixels (the short side at least 160). ") == true)
        }
        #expect(Self.run(layers, .fragmented, pictures: 29 * 30).faults.isEmpty)
    }

    @Test
    func `a small layer that comes first is no ground when another fault ends the publish`() {
        var feeder = StreamFeeder(.accessUnits)
        feeder.monitor.name(layers: Self.names)
        let low = Self.stream(160, 90)
        var top = Self.stream(1_280, 720)
        top.sps.profileIDC = 77
        for number in 0..<60 { feeder.feed(layers: [2: low.accessUnit(number), 0: top.accessUnit(number)]) }
        #expect(feeder.faults.map(\.rule) == [.videoProfile])
    }

    @Test(arguments: [(1, 1, []), (1, 6, []), (6, 1, ["layer hi (1280x720): 5 frames a second (allowed: 10 to 60)"])])
    func `too few frames are a fault of the largest layer alone`(_ every: Int, _ lowEvery: Int, _ found: [String]) {
        let layers = [Self.stream(1_280, 720), Self.stream(320, 180)]
        var feeder = StreamFeeder(.accessUnits)
        feeder.monitor.name(layers: Self.names)
        for number in 0..<600 {
            switch (number % every, number % lowEvery) {
            case (0, 0): feeder.feed(layers: [0: layers[0].accessUnit(number), 1: layers[1].accessUnit(number)])
            case (0, _): feeder.feed(layers: [0: layers[0].accessUnit(number)])
            default: feeder.feed(layers: [1: layers[1].accessUnit(number)])
            }
        }
        let told = feeder.warnings.filter { $0.fault.rule == .frameRate }.map(\.sentence)
        #expect(told == found.map { $0 + ". Set 30 frames a second." })
    }

    @Test
    func `too many frames are a fault of any layer`() {
        var feeder = StreamFeeder(.accessUnits)
        feeder.frameRate = 90
        feeder.monitor.name(layers: Self.names)
        let layers = [Self.stream(1_280, 720), Self.stream(320, 180)]
        for number in 0..<900 {
            if number % 3 == 0 { feeder.feed(layers: [0: layers[0].accessUnit(number), 2: layers[1].accessUnit(number)]) }
            if number % 3 != 0 { feeder.feed(layers: [2: layers[1].accessUnit(number)]) }
        }
        #expect(
            feeder.warnings.filter { $0.fault.rule == .frameRate }.allSatisfy {
                $0.sentence.hasPrefix("layer low (320x180): 90 ")
            })
        #expect(feeder.warnings.contains { $0.fault.rule == .frameRate })
    }

    // MARK: Coming, going, changing

    @Test(arguments: forms)
    func `a layer that comes late is judged from its first picture on`(_ form: Form) {
        let layers = Self.ladder()
        var late = layers[1]
        late.sps.profileIDC = 77
        var feeder = StreamFeeder(form)
        feeder.monitor.name(layers: Self.names)
        for number in 0..<300 { feeder.feed(layers: [0: layers[0].accessUnit(number), 2: layers[2].accessUnit(number)]) }
        #expect(feeder.news == [])
        for number in 0..<60 where feeder.faults.isEmpty {
            feeder.feed(layers: [0: layers[0].accessUnit(number), 1: late.accessUnit(number), 2: layers[2].accessUnit(number)])
        }
        #expect(feeder.sentence?.hasPrefix("layer mid (640x360): Main profile (allowed: baseline). ") == true)
        #expect(feeder.index <= 300 + 32)
    }

    @Test(arguments: forms)
    func `a layer that changes its size is judged anew, and called by the new one`(_ form: Form) {
        var layers = Self.ladder()
        var feeder = StreamFeeder(form)
        feeder.monitor.name(layers: Self.names)
        for number in 0..<120 { Self.feed(layers, number, to: &feeder) }
        (layers[2].sps.width, layers[2].sps.height) = (480, 270)
        for number in 120..<240 { Self.feed(layers, number, to: &feeder) }
        #expect(feeder.news == [])
        (layers[2].sps.width, layers[2].sps.height, layers[2].sps.profileIDC) = (960, 540, 77)
        for number in 240..<300 { Self.feed(layers, number, to: &feeder) }
        #expect(feeder.sentence?.hasPrefix("layer low (960x540): Main profile ") == true)
    }

    @Test(arguments: forms, 0..<3)
    func `a layer that stops is no missing track`(_ form: Form, _ place: Int) {
        let layers = Self.ladder()
        let others = (0..<3).filter { $0 != place }
        var feeder = Self.run(layers, form, pictures: 20)
        for number in 20..<600 {
            feeder.feed(
                layers: [
                    UInt8(others[0]): layers[others[0]].accessUnit(number),
                    UInt8(others[1]): layers[others[1]].accessUnit(number),
                ])
        }
        #expect(feeder.news == [])
    }

    @Test
    func `all video of an RTMP publish may be in one layer that is not the first`() {
        var feeder = StreamFeeder(.accessUnits)
        for number in 0..<300 { feeder.feed(layers: [2: SyntheticStream().accessUnit(number)]) }
        #expect(feeder.news == [])
    }

    @Test(arguments: forms, [3, 4, 255] as [UInt8])
    func `layers beyond the third are not looked at`(_ form: Form, _ place: UInt8) {
        var other = Self.stream(1_920, 1_080, bytesPerPicture: 60_000)
        (other.sps.profileIDC, other.sliceType) = (100, { $0 % 3 == 0 ? 5 : 6 })
        var feeder = StreamFeeder(form)
        other.sps.bytes.withUnsafeBytes { feeder.monitor.parameterSet($0.bytes, layer: place, at: feeder.moment.arrival) }
        for number in 0..<300 { feeder.feed(layers: [0: SyntheticStream().accessUnit(number), place: other.accessUnit(number)]) }
        #expect(feeder.news == [])
        #expect(feeder.monitor.sightings.table.first { $0.rule == .maximumResolution }?.seen == "1280x720 pixels")
    }

    // MARK: Warnings

    @Test
    func `each layer is warned of once a minute, with all that have the same fault`() {
        var layers = Self.ladder()
        for place in [0, 2] { layers[place].keyframeInterval = 150 }
        let feeder = Self.run(layers, .accessUnits, pictures: 1_200)
        let cure = "keyframe every 5 s (at most 2). Set the keyframe interval to 2 s."
        #expect(
            feeder.warnings.map(\.sentence)
                == ["layer hi (1280x720): \(cure)", "layers hi (1280x720), low (320x180): \(cure)"])
        #expect(feeder.faults.isEmpty)
    }

    @Test
    func `new limits hold for every layer`() {
        var feeder = Self.run(Self.ladder(), .accessUnits, pictures: 60)
        var rules = ContractSettings()
        rules.maximumResolution.limit = 640 * 360 - 1
        feeder.monitor.apply(rules)
        for number in 60..<120 { Self.feed(Self.ladder(), number, to: &feeder) }
        #expect(feeder.faults == [.resolutionAbove(width: 1_280, height: 720), .resolutionAbove(width: 640, height: 360)])
    }

    // MARK: Standing

    private static func seen(_ rule: ContractRule, of feeder: StreamFeeder) -> String? {
        feeder.monitor.sightings.table.first { $0.rule == rule }?.seen
    }

    @Test
    func `the table of rules names layers where they differ`() {
        let feeder = Self.run(Self.ladder(), .accessUnits)
        #expect(feeder.monitor.sightings.table.allSatisfy { $0.isKept == true })
        #expect(Self.seen(.maximumResolution, of: feeder) == "hi: 1280x720 pixels; mid: 640x360 pixels; low: 320x180 pixels")
        #expect(Self.seen(.minimumResolution, of: feeder) == "hi: 1280x720 pixels")
        #expect(Self.seen(.videoProfile, of: feeder) == "Baseline")
        #expect(Self.seen(.bFrames, of: feeder) == "none")
        #expect(Self.seen(.frameRate, of: feeder) == "30")
        #expect(Self.seen(.videoBitrate, of: feeder)?.hasPrefix("all layers together: 0.7") == true)
        #expect(Self.seen(.tracks, of: feeder) == "video and audio")
    }

    @Test
    func `the table of rules names the layers that break one`() {
        var layers = Self.ladder()
        for place in [0, 1] { layers[place].sps.profileIDC = 77 }
        let feeder = Self.run(layers, .accessUnits)
        #expect(Self.seen(.videoProfile, of: feeder) == "layers hi (1280x720), mid (640x360): Main profile")
        #expect(feeder.monitor.sightings.table.first { $0.rule == .videoProfile }?.isKept == false)
    }

    @Test(arguments: forms)
    func `what OBS tells with every layer is counted once`(_ form: Form) {
        let report = PerformanceBuilder(PerformanceBuilder.session, [(1, 120), (2, 3), (3, 6), (4, 120)]).bytes
        let layers = Self.ladder().map { stream in
            var stream = stream
            stream.sei = report
            return stream
        }
        let figures = Self.run(layers, form, pictures: 300).monitor.sightings.encoder
        #expect((figures.rendered, figures.lagged, figures.dropped, figures.output) == (480, 12, 24, 480))
        #expect(figures.reportCount == 15)
    }
}
