import Testing

@testable import RouterForwarding
@testable import StageHub

@Suite("Names of layers toward routers")
struct LayerNamesTests {
    private func layer(_ place: UInt8, _ width: Int) -> VideoLayer {
        VideoLayer(
            track: TrackID(.video, layer: place), name: .hi, rid: "", width: width, height: width, framesPerSecond: 30,
            bitsPerSecond: 1, isActive: true)
    }

    private func tracks(_ places: [UInt8]) -> [TrackID] { places.map { TrackID(.video, layer: $0) } }

    @Test func `one encoding has none`() {
        var names = LayerNames()
        #expect(names.announce([layer(0, 640)], expected: tracks([0])).isEmpty)
    }

    @Test func `they are by rank, best first, and stay when ranks change`() {
        var names = LayerNames()
        let first = names.announce([layer(2, 1280), layer(0, 640), layer(1, 320)], expected: tracks([0, 1, 2]))
        #expect(first.map(\.rid) == [.hi, .mid, .low] && first.map(\.track.layer) == [2, 0, 1])
        let later = names.announce([layer(1, 1920), layer(2, 1280), layer(0, 640)], expected: tracks([0, 1, 2]))
        #expect(later.map(\.rid) == [.low, .hi, .mid] && later.map(\.width) == [1920, 1280, 640])
    }

    @Test func `two are hi and low, and a third that comes late is mid`() {
        var names = LayerNames()
        #expect(names.announce([layer(0, 640), layer(1, 320)], expected: tracks([0, 1])).map(\.rid) == [.hi, .low])
        let three = names.announce([layer(2, 1280), layer(0, 640), layer(1, 320)], expected: tracks([0, 1, 2]))
        #expect(three.map(\.rid) == [.mid, .hi, .low])
    }

    /// Where bandwidth is short, browsers begin with the smallest.
    @Test(arguments: [([2], [0, 1, 2]), ([0], [2, 1, 0]), ([], [0, 1, 2]), ([1, 2], [0, 1, 2])] as [([UInt8], [UInt8])])
    func `what has not come yet is taken for better`(_ known: [UInt8], _ order: [UInt8]) {
        var names = LayerNames()
        let sizes = known.enumerated().map { layer($1, 640 - $0) }
        let announced = names.announce(sizes, expected: tracks([0, 1, 2]))
        #expect(announced.map(\.track.layer) == order)
        #expect(announced.filter { $0.width == 0 }.allSatisfy { !$0.isActive })
    }
}
