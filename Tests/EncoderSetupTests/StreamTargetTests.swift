import Settings
import Testing

@testable import EncoderSetup

@Suite("What an encoder should send")
struct StreamTargetTests {
    private static func canvas(_ width: Int, _ height: Int, _ numerator: Int = 30, _ denominator: Int = 1) -> StreamTarget.Canvas
    {
        StreamTarget.Canvas(width: width, height: height, frameRate: .init(numerator: numerator, denominator: denominator))
    }

    @Test
    func `the contract's own defaults make 720p, 6,000 kbit per second and Baseline`() {
        let target = StreamTarget(rules: ContractSettings())
        #expect((target.width, target.height) == (1_280, 720))
        #expect(target.frameRate == .init(numerator: 60, denominator: 1), "what is not above it OBS leaves as it is")
        #expect(target.profile == .baseline)
        #expect((target.videoKilobits, target.audioKilobits, target.keyframeSeconds) == (6_000, 128, 2))
    }

    @Test(arguments: [
        (1_920, 1_080, 1_280, 720), (3_840, 2_160, 1_280, 720), (1_080, 1_920, 720, 1_280), (1_280, 720, 1_280, 720),
        (640, 360, 640, 360), (1_600, 1_200, 1_108, 830), (3_440, 1_440, 1_482, 620), (721, 405, 720, 404), (0, 0, 1_280, 720),
    ])
    func `a canvas is scaled to the contract's area in its own shape`(width: Int, height: Int, outWidth: Int, outHeight: Int) {
        let target = StreamTarget(rules: ContractSettings(), canvas: Self.canvas(width, height))
        #expect((target.width, target.height) == (outWidth, outHeight))
        #expect(target.width * target.height <= ContractSettings().maximumResolution.limit)
    }

    @Test(arguments: [(16, 16_384), (16_384, 16), (1, 1_000_000), (1_000_000, 1)])
    func `a ribbon has two even sides still, within the area`(width: Int, height: Int) {
        var rules = ContractSettings()
        rules.maximumResolution.limit = 2_304
        let target = StreamTarget(rules: rules, canvas: Self.canvas(width, height))
        #expect(target.width >= 2 && target.height >= 2 && target.width % 2 == 0 && target.height % 2 == 0)
        #expect(target.width * target.height <= 2_304)
    }

    @Test
    func `a rule that is off bounds nothing`() {
        var rules = ContractSettings()
        rules.maximumResolution.action = .off
        rules.frameRate.action = .off
        rules.videoBitrate = ContractSettings.Rule(1_000_000, .off)
        rules.audioBitrate = ContractSettings.Rule(32_000, .off)
        rules.keyframeInterval = ContractSettings.Rule(.seconds(60), .off)
        let target = StreamTarget(rules: rules, canvas: Self.canvas(3_840, 2_160, 120), maximumKilobits: 20_128)
        #expect((target.width, target.height) == (3_840, 2_160))
        #expect(target.frameRate == .init(numerator: 120, denominator: 1))
        #expect((target.videoKilobits, target.audioKilobits, target.keyframeSeconds) == (20_000, 128, 2))
        #expect(StreamTarget(rules: rules).videoKilobits == 6_000)
    }

    @Test(arguments: [
        (25, 1, 25, 1), (50, 1, 50, 1), (60, 1, 60, 1), (60_000, 1_001, 60_000, 1_001), (120, 1, 120, 2), (144, 1, 144, 3),
        (1_000_000, 1, 1_000_000, 16_667),
    ])
    func `a rate above the contract's is divided by a whole number`(
        numerator: Int, denominator: Int, outNumerator: Int, outDenominator: Int
    ) {
        let target = StreamTarget(rules: ContractSettings(), canvas: Self.canvas(1_280, 720, numerator, denominator))
        #expect(target.frameRate == StreamTarget.FrameRate(numerator: outNumerator, denominator: outDenominator))
    }

    @Test
    func `what the streamer allows lowers the bitrate, sound taken off`() {
        #expect(StreamTarget(rules: ContractSettings(), maximumKilobits: 3_128).videoKilobits == 3_000)
        #expect(StreamTarget(rules: ContractSettings(), maximumKilobits: 50_000).videoKilobits == 6_000)
        #expect(StreamTarget(rules: ContractSettings(), maximumKilobits: 1).videoKilobits == 200)
    }

    @Test
    func `a stage that admits High gets High`() {
        var rules = ContractSettings()
        rules.profile.limit = [.constrainedBaseline, .main, .high]
        #expect(StreamTarget(rules: rules).profile == .high)
        rules.profile.limit = [.main]
        #expect(StreamTarget(rules: rules).profile == .main)
        rules.profile.action = .off
        #expect(StreamTarget(rules: rules).profile == .high)
    }
}
