import H264
import Testing

@testable import MediaContract

@Suite("EncoderFigures")
struct EncoderFiguresTests {
    private static func session(_ rendered: UInt32, _ lagged: UInt32, _ output: UInt32, _ dropped: UInt32) -> BroadcastPerformance
    {
        var frames = BroadcastPerformance.SessionFrames()
        (frames.rendered, frames.lagged, frames.output, frames.dropped) = (rendered, lagged, output, dropped)
        return .session(frames)
    }

    private static func rendition(_ input: UInt32, _ skipped: UInt32, _ output: UInt32) -> BroadcastPerformance {
        var frames = BroadcastPerformance.RenditionFrames()
        (frames.input, frames.skipped, frames.output) = (input, skipped, output)
        return .rendition(frames)
    }

    /// Those after the first of each kind.
    private static func figures(_ reports: BroadcastPerformance...) -> EncoderFigures {
        ([session(0, 0, 0, 0), rendition(0, 0, 0)] + reports).reduce(into: EncoderFigures()) { $0.add($1) }
    }

    @Test
    func `reports add up`() {
        let figures = Self.figures(
            Self.session(120, 3, 240, 8), Self.rendition(120, 12, 108), Self.session(121, 0, 242, 0), Self.rendition(121, 1, 120))
        #expect((figures.rendered, figures.lagged, figures.output, figures.dropped) == (241, 3, 482, 8))
        #expect((figures.input, figures.skipped, figures.encoded) == (241, 13, 228))
        #expect(figures.reportCount == 6)
    }

    @Test
    func `the first report of each kind tells of the time before`() {
        var figures = EncoderFigures()
        figures.add(Self.session(90_000, 80_000, 90_000, 80_000))
        figures.add(Self.rendition(90_000, 80_000, 10_000))
        #expect((figures.rendered, figures.input, figures.reportCount) == (0, 0, 2))
        #expect(figures.verdict == nil)
        figures.add(Self.session(120, 0, 120, 0))
        #expect((figures.rendered, figures.input) == (120, 0))
    }

    @Test
    func `of several layers one tells what the program did, until it falls silent`() {
        var figures = EncoderFigures()
        for _ in 0..<5 {
            for layer in 0..<3 as Range<UInt8> {
                figures.add(Self.session(60, 0, 180, 18), of: layer)
                figures.add(Self.rendition(60, 6, 54), of: layer)
            }
        }
        #expect((figures.rendered, figures.output, figures.dropped) == (240, 720, 72))
        #expect((figures.input, figures.skipped, figures.encoded) == (240, 24, 216))
        for _ in 0..<5 {
            for layer in 1..<3 as Range<UInt8> {
                figures.add(Self.session(60, 0, 120, 0), of: layer)
                figures.add(Self.rendition(60, 0, 60), of: layer)
            }
        }
        #expect((figures.rendered, figures.input, figures.reportCount) == (540, 540, 50))
    }

    @Test
    func `a report beyond all measure counts nothing`() {
        let figures = Self.figures(Self.session(.max, 0, 0, 0), Self.session(1, 0, 0, 100_001), Self.rendition(0, .max, 0))
        #expect((figures.rendered, figures.dropped, figures.skipped) == (0, 0, 0))
    }

    @Test(arguments: [
        ([rendition(1_000, 120, 880)], "the encoder's machine skipped 12 % of its frames: use a faster preset", "encoding"),
        ([session(1_000, 0, 1_000, 80)], "the uplink dropped 8 %: lower the bitrate", "uplink"),
        (
            [session(1_000, 55, 1_000, 0)],
            "the encoder's machine rendered 5.5 % of its frames too late: lower the game's or the scene's load", "rendering"
        ),
        (
            [session(1_000, 0, 1_000, 80), rendition(1_000, 120, 880)],
            "the encoder's machine skipped 12 % of its frames: use a faster preset; the uplink dropped 8 %: lower the bitrate",
            "encoding"
        ),
        ([session(1_000, 9, 1_000, 9), rendition(1_000, 9, 991)], "the encoder's machine and its uplink keep up", nil),
        ([session(99, 99, 99, 99)], nil, nil),
        // More lost than there were.
        ([session(1_000, 0, 200, 900)], "the uplink dropped 100 %: lower the bitrate", "uplink"),
    ])
    func `the verdict names the culprit, the worst first`(
        _ reports: [BroadcastPerformance], _ verdict: String?, _ culprit: String?
    ) {
        var figures = Self.figures()
        for report in reports { figures.add(report) }
        #expect(figures.verdict == verdict)
        #expect(figures.losses.first?.culprit.rawValue == culprit)
    }

    @Test
    func `a part of the time is judged on its own`() {
        var figures = Self.figures(Self.session(1_000, 0, 1_000, 500))
        let earlier = figures
        figures.add(Self.session(1_000, 0, 1_000, 0))
        #expect(figures.since(earlier).verdict == "the encoder's machine and its uplink keep up")
        #expect(figures.verdict == "the uplink dropped 25 %: lower the bitrate")
    }
}
