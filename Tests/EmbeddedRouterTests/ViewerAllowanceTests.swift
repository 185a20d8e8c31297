import Admission
import Testing
import Wire

@testable import EmbeddedRouter
@testable import StageHub

@Suite("What one viewer may take")
struct ViewerAllowanceTests {
    private let viewer = ParticipantKey("v", onStage: "one")

    @Test func `the older session goes first, the younger has what is left, and sound always`() {
        let allowances = ViewerAllowances(bitsPerSecond: 8_500_000)
        for _ in 0..<3 {
            #expect(allowances.share(of: viewer, session: "old", taking: 6_000_000) == 8_500_000)
            #expect(allowances.share(of: viewer, session: "young", taking: 2_000_000) == 2_500_000)
        }
        for _ in 0..<40 { _ = allowances.share(of: viewer, session: "old", taking: 9_000_000) }
        #expect(allowances.share(of: viewer, session: "young", taking: 0) == ViewerAllowances.least)
        let other = ParticipantKey("w", onStage: "one")
        #expect(allowances.share(of: other, session: "other", taking: 0) == 8_500_000)
        allowances.leave(viewer, session: "old")
        #expect(allowances.share(of: viewer, session: "young", taking: 0) == 8_500_000)
        for session in ["young", "never"] { allowances.leave(viewer, session: session) }
        allowances.leave(other, session: "other")
        #expect(allowances.viewerCount == 0, "nothing is kept of who has gone")
    }

    private static func layer(_ index: UInt8, _ name: LayerName, _ bits: Int) -> VideoLayer {
        VideoLayer(
            track: TrackID(.video, layer: index), name: name, rid: "", width: 640, height: 360, framesPerSecond: 30,
            bitsPerSecond: bits, isActive: true)
    }

    private static let layers = [layer(0, .hi, 3_000_000), layer(1, .low, 300_000)]

    @Test func `layers beyond the ceiling count as paused, until there is room to spare`() {
        var ceiling = ViewerCeiling()
        #expect(ceiling.admit(Self.layers, sound: 64_000, at: .zero) == Self.layers, "nothing is known yet")
        ceiling.bitsPerSecond = 2_000_000
        #expect(ceiling.admit(Self.layers, sound: 64_000, at: .zero).map(\.isActive) == [false, true])
        ceiling.bitsPerSecond = 3_300_000
        #expect(ceiling.admit(Self.layers, sound: 64_000, at: .zero).map(\.isActive) == [false, true], "not enough to spare")
        ceiling.bitsPerSecond = 4_000_000
        #expect(ceiling.admit(Self.layers, sound: 64_000, at: .zero).map(\.isActive) == [true, true])
        #expect(!ceiling.barsAll)
    }

    /// One layer near the ceiling: viewers would have sound alone from its first peak on.
    @Test func `a layer that was beyond the ceiling is taken again when it has been within for a while`() {
        var ceiling = ViewerCeiling()
        ceiling.bitsPerSecond = 8_500_000
        let story: [(second: Int, bits: Int, isTaken: Bool)] = [
            (0, 7_500_000, true), (1, 8_800_000, false), (2, 7_500_000, false), (10, 7_500_000, false), (11, 7_500_000, true),
            (12, 8_800_000, false), (20, 8_800_000, false), (29, 7_500_000, false), (30, 7_500_000, true),
            (31, 8_800_000, false), (32, 6_900_000, true),
        ]
        for (second, bits, isTaken) in story {
            let layers = ceiling.admit([Self.layer(0, .noRID, bits)], sound: 96_000, at: .zero + .seconds(second))
            #expect(layers[0].isActive == isTaken && ceiling.barsAll == !isTaken, "second \(second)")
        }
    }

    @Test func `without room for any picture there is sound alone, even for who asked for a layer`() {
        var adaptation = ViewerAdaptation(initial: .highest, wish: .layer(.hi))
        adaptation.layers = Self.layers
        adaptation.update(at: .zero)
        #expect(adaptation.target == TrackID(.video, layer: 0))
        adaptation.maximumBitsPerSecond = 1_000_000
        adaptation.update(at: .zero + .seconds(1))
        #expect(adaptation.target == TrackID(.video, layer: 1))
        adaptation.maximumBitsPerSecond = ViewerAllowances.least
        adaptation.update(at: .zero + .seconds(2))
        #expect(adaptation.target == nil)
        adaptation.maximumBitsPerSecond = 8_500_000
        adaptation.update(at: .zero + .seconds(3))
        #expect(adaptation.target == TrackID(.video, layer: 0))
    }
}
