import TestSupport
import Testing
import Wire

@testable import EmbeddedRouter
@testable import StageHub

@Suite("Layer chooser")
final class LayerChooserTests {
    let clock = FakeClock()
    var chooser = LayerChooser()
    var layers = LayerChooserTests.three

    static let (hi, mid, low) = (TrackID(.video, layer: 2), TrackID(.video, layer: 0), TrackID(.video, layer: 1))

    static func layer(_ track: TrackID, _ name: LayerName, _ height: Int, _ rate: Int) -> VideoLayer {
        VideoLayer(
            track: track, name: name, rid: "r\(track.layer)", width: height * 16 / 9, height: height, framesPerSecond: 30,
            bitsPerSecond: rate, isActive: true)
    }

    /// IVS's web presets.
    static let three = [
        layer(hi, .hi, 720, 1_700_000), layer(mid, .mid, 360, 700_000), layer(low, .low, 180, 200_000),
    ]

    /// Ten looks a second, as sessions take them.
    @discardableResult
    func look(_ estimate: Int?, for duration: Duration = .milliseconds(100)) -> TrackID? {
        let end = clock.now + duration
        while clock.now < end {
            chooser.update(layers, estimate: estimate, at: clock.advance(by: .milliseconds(100)))
        }
        return chooser.choice?.track
    }

    @Test func `a viewer begins with the lowest layer, or with the best where that is asked for`() {
        #expect(look(nil) == Self.low && chooser.choice?.reason == .initial)
        chooser = LayerChooser(initial: .highest)
        #expect(look(nil) == Self.hi && chooser.choice?.reason == .initial)
    }

    @Test func `a better layer is taken when it has been carried for a second, the best of them at once`() {
        look(nil)
        #expect(look(2_200_000, for: .seconds(1)) == Self.low)
        #expect(look(2_200_000) == Self.hi && chooser.choice?.reason == .bandwidthRose)
    }

    @Test func `a fifth more than a layer needs is enough, less is not`() {
        look(nil)
        #expect(look(870_000, for: .seconds(60)) == Self.low)
        #expect(look(890_000, for: .seconds(2)) == Self.mid)
    }

    @Test func `rises follow each other as long as all have held, and ten seconds apart once one has not`() {
        look(nil)
        look(890_000, for: .seconds(2))
        #expect(look(3_000_000, for: .milliseconds(1_200)) == Self.hi)
        #expect(look(800_000) == Self.mid)
        #expect(look(3_000_000, for: .milliseconds(8_500)) == Self.mid)
    }

    @Test func `after a fall the way up is gone step by step, without waits between the steps`() {
        look(nil)
        look(3_000_000, for: .seconds(20))
        #expect(look(250_000) == Self.low)
        look(250_000, for: .seconds(6))
        #expect(look(900_000, for: .milliseconds(1_200)) == Self.mid)
        #expect(look(3_000_000, for: .milliseconds(1_200)) == Self.hi)
    }

    @Test func `what is clearly not carried is left at once, to the best that is`() {
        look(nil)
        look(3_000_000, for: .seconds(2))
        #expect(look(800_000) == Self.mid && chooser.choice?.reason == .bandwidthFell)
        #expect(look(150_000) == Self.low)
    }

    @Test func `a little too little is borne for a moment`() {
        look(nil)
        look(3_000_000, for: .seconds(2))
        #expect(look(1_550_000, for: .milliseconds(1_000)) == Self.hi)
        look(1_800_000)
        #expect(look(1_550_000, for: .milliseconds(1_500)) == Self.hi)
        #expect(look(1_550_000, for: .milliseconds(200)) == Self.mid)
    }

    @Test func `sound alone where the lowest layer is not carried for three seconds, and video again when it is`() {
        look(nil)
        #expect(look(170_000, for: .seconds(10)) == Self.low, "some loss is better than no picture")
        #expect(look(60_000, for: .seconds(3)) == Self.low)
        look(60_000, for: .milliseconds(200))
        #expect(chooser.choice == LayerChoice(track: nil, reason: .bandwidthFell))
        look(400_000, for: .seconds(4))
        #expect(chooser.choice?.track == nil)
        #expect(look(400_000, for: .seconds(2)) == Self.low && chooser.choice?.reason == .bandwidthRose)
    }

    /// An estimate that swings for ever: the layer changes up no more than once in ten seconds, and later each time.
    @Test func `a layer that does not hold is tried again later each time`() {
        look(nil)
        var rises: [MonotonicTime] = []
        for _ in 0..<3_000 {
            let former = chooser.choice?.track
            look(former == Self.hi ? 300_000 : 3_000_000)
            if former == Self.low, chooser.choice?.track == Self.hi { rises.append(clock.now) }
        }
        let waits = zip(rises.dropFirst(), rises).map { $0 - $1 }
        #expect(waits.allSatisfy { $0 >= .seconds(10) })
        #expect(zip(waits.dropFirst(), waits).allSatisfy { $0 >= $1 } && waits.max() ?? .zero >= .seconds(80))
        #expect(rises.count >= 5, "it is not given up")
    }

    @Test func `a layer that dies is replaced by the best below it that lives, or by one above`() {
        chooser.wish = .layer(.mid)
        look(nil)
        chooser.wish = .automatic
        layers[1].isActive = false
        #expect(look(nil) == Self.low && chooser.choice?.reason == .layerLost)
        layers[2].isActive = false
        #expect(look(100_000) == Self.hi && chooser.choice?.reason == .layerLost)
        layers[0].isActive = false
        #expect(look(100_000, for: .seconds(20)) == Self.hi, "nothing flows: it goes on where it was")
        layers = []
        #expect(look(nil) == Self.hi)
    }

    @Test(arguments: [(LayerName.hi, hi), (.mid, mid), (.low, low)])
    func `a wish counts, whatever the way carries`(_ name: LayerName, _ track: TrackID) {
        chooser.wish = .layer(name)
        #expect(look(50_000, for: .seconds(5)) == track && chooser.choice?.reason == .requested)
        chooser.wish = .automatic
        #expect(look(10_000_000, for: .seconds(30)) == Self.hi)
    }

    @Test func `a wish that cannot be had gets what is nearest below it, until it can`() {
        chooser.wish = .layer(.hi)
        layers[0].isActive = false
        #expect(look(nil) == Self.mid && chooser.choice?.reason == .unavailable)
        layers[0].isActive = true
        #expect(look(nil) == Self.hi && chooser.choice?.reason == .requested)
        chooser.wish = .layer(.mid)
        layers.remove(at: 1)
        #expect(look(nil) == Self.low && chooser.choice?.reason == .unavailable)
    }

    @Test func `only what is not known to be carried is worth a try`() {
        look(300_000)
        #expect(chooser.nextNeed(layers, beyond: 300_000, at: clock.now) == 882_000)
        #expect(chooser.nextNeed(layers, beyond: 900_000, at: clock.now) == 2_142_000)
        #expect(chooser.nextNeed(layers, beyond: 3_000_000, at: clock.now) == nil)
        look(3_000_000, for: .seconds(2))
        #expect(chooser.nextNeed(layers, beyond: 300_000, at: clock.now) == nil, "it has the best")
        look(100_000)
        #expect(chooser.nextNeed(layers, beyond: 100_000, at: clock.now) == nil, "it has just fallen")
    }
}
