import StageHub
import Testing
import Wire

@Suite("Switch between layers")
struct LayerSwitchTests {
    private let low = TrackID(.video, layer: 1)
    private let hi = TrackID(.video, layer: 0)

    private func run(_ track: TrackID, isKeyframe: Bool = false) -> MediaRun {
        MediaRun(track: track, isKeyframe: isKeyframe, arrival: .zero)
    }

    @Test func `begins at a keyframe of what is wanted, and changes at one`() {
        var layers = LayerSwitch()
        #expect(layers.passage(of: run(low, isKeyframe: true)) == .rests, "nothing is wanted yet")
        layers.aim(at: low)
        #expect(layers.wanted == low)
        #expect(layers.passage(of: run(low)) == .rests)
        #expect(layers.passage(of: run(hi, isKeyframe: true)) == .rests)
        #expect(layers.passage(of: run(low, isKeyframe: true)) == .begins(after: nil))
        #expect(layers.passage(of: run(low)) == .goesOn && layers.wanted == nil)
        layers.aim(at: hi)
        #expect(layers.passage(of: run(hi)) == .rests && layers.wanted == hi)
        #expect(layers.passage(of: run(low, isKeyframe: true)) == .goesOn, "the former one goes on until then")
        #expect(layers.passage(of: run(hi, isKeyframe: true)) == .begins(after: low))
        #expect(layers.passage(of: run(low, isKeyframe: true)) == .rests)
        #expect(layers.current == hi && layers.wanted == nil)
    }

    @Test func `after a loss of place the same layer goes on at its keyframe, with its own numbers`() {
        var layers = LayerSwitch()
        layers.aim(at: hi)
        _ = layers.passage(of: run(hi, isKeyframe: true))
        #expect(layers.flowing == hi)
        layers.awaitKeyframe()
        #expect(layers.flowing == nil, "nothing of it is to be sent again either")
        #expect(layers.wanted == hi && layers.passage(of: run(hi)) == .rests)
        #expect(layers.passage(of: run(hi, isKeyframe: true)) == .goesOn)
        layers.aim(at: nil)
        #expect(layers.passage(of: run(hi)) == .goesOn && layers.wanted == nil, "what flows goes on")
    }
}
