import JSON
import Settings
import TestSupport
import Testing

@testable import EncoderSetup

@Suite("Pictures of several sizes")
struct LayerTargetsTests {
    private static func target(_ width: Int, _ height: Int, kilobits: Int? = nil) -> StreamTarget {
        StreamTarget(
            rules: ContractSettings(), canvas: .init(width: width, height: height, frameRate: nil),
            maximumKilobits: kilobits.map { $0 + 128 })
    }

    private static func said(_ targets: [StreamTarget]) -> [[Int]] { targets.map { [$0.width, $0.height, $0.videoKilobits] } }

    @Test func `three share the bits of one, each half as wide and high as the one before`() {
        #expect(
            Self.said(Self.target(1_920, 1_080).layers(3)) == [[1_280, 720, 3_900], [640, 360, 1_620], [320, 180, 480]])
        #expect(Self.said(Self.target(1_920, 1_080).layers(2)) == [[1_280, 720, 4_500], [640, 360, 1_500]])
        #expect(Self.said(Self.target(1_080, 1_920).layers(9)).map { $0[0] } == [720, 360, 180])
        for count in [1, 0, -1] { #expect(Self.target(1_280, 720).layers(count) == [Self.target(1_280, 720)]) }
    }

    @Test func `what nobody could look at takes its bits from nobody`() {
        #expect(Self.said(Self.target(640, 360).layers(3)).map { $0[1] } == [360, 180])
        #expect(Self.said(Self.target(426, 240).layers(3)) == [[426, 240, 6_000]])
        #expect(Self.said(Self.target(1_280, 720, kilobits: 1_000).layers(3)) == [[1_280, 720, 750], [640, 360, 250]])
        #expect(Self.said(Self.target(1_280, 720, kilobits: 300).layers(3)) == [[1_280, 720, 300]])
    }

    /// Stages take as layers what differs in shape by less than a twentieth, and no side is odd.
    @Test func `any picture keeps its shape`() {
        var random = SplitMix64(seed: 3)
        for _ in 0..<1_000 {
            let target = Self.target(Int(random.next() % 4_000) + 16, Int(random.next() % 4_000) + 16)
            let layers = target.layers(3)
            #expect(layers[0].width == target.width && layers.map(\.videoKilobits).reduce(0, +) <= target.videoKilobits)
            for layer in layers {
                let (own, other) = (layer.width * target.height, target.width * layer.height)
                #expect(abs(own - other) * 20 <= other && layer.width % 2 == 0 && layer.height % 2 == 0)
            }
        }
    }

    @Test(arguments: [("x264", 2, 1), ("x264", 6, 3), ("card", 2, 3)])
    func `a small machine without a card makes one`(encoder: String, cores: Int, count: Int) {
        #expect((encoder == "x264" ? OBSEncoder.x264(cores: cores) : .quickSync).layerCount == count)
    }

    @Test func `OBS takes each as a track of its own`() throws {
        var configuration = OBSConfiguration(
            identifier: "c", endpoints: [], encoder: .quickSync, target: Self.target(1_280, 720))
        configuration.layerCount = 3
        let document = JSONValue.object(configuration.document)
        try document.checkAsOBSReadsIt()
        let tracks = document["encoder_configurations"]?.array ?? []
        #expect(tracks.map { $0["height"] } == [720, 360, 180])
        #expect(tracks.map { $0["settings"]?["bitrate"] } == [3_900, 1_620, 480])
    }
}
