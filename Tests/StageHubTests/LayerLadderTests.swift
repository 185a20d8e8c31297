import Testing
import Wire

@testable import StageHub

@Suite("Ladder of layers")
struct LayerLadderTests {
    private let counters = PublishCounters()
    private let start = MonotonicTime(nanoseconds: 1_000_000_000)

    private func track(_ layer: UInt8) -> TrackID { TrackID(.video, layer: layer) }

    private func ladder(_ sizes: [(Int, Int)]) -> LayerLadder {
        var ladder = LayerLadder()
        for (place, size) in sizes.enumerated() {
            ladder.sized(track(UInt8(place)), rid: "\(place)", width: size.0, height: size.1, at: start)
        }
        return ladder
    }

    @Test(arguments: [
        ([(1280, 720)], ["no-rid 0"]),
        ([(320, 180), (1280, 720)], ["hi 1", "low 0"]),
        ([(640, 360), (320, 180), (1280, 720)], ["hi 2", "mid 0", "low 1"]),
        ([(360, 640), (720, 1280)], ["hi 1", "low 0"]),
    ])
    func `names go by size, whatever the encoder's own`(_ sizes: [(Int, Int)], _ names: [String]) {
        #expect(ladder(sizes).layers.map { "\($0.name.rawValue) \($0.rid)" } == names)
    }

    @Test func `of one size the one with clearly more bits is better, and a near tie changes nothing`() {
        var ladder = ladder([(1280, 720), (1280, 720)])
        ladder.measure(counters, at: start)
        for (layer, bytes) in [(0, 100_000), (1, 110_000)] { counters.video[layer].count(byteCount: bytes, endsFrame: true) }
        ladder.measure(counters, at: start + .seconds(1))
        #expect(ladder.layers.map(\.track.layer) == [0, 1])
        #expect(ladder.layers.map(\.bitsPerSecond) == [800_000, 880_000])
        for (layer, bytes) in [(0, 100_000), (1, 200_000)] { counters.video[layer].count(byteCount: bytes, endsFrame: true) }
        ladder.measure(counters, at: start + .seconds(2))
        #expect(ladder.layers.map(\.track.layer) == [1, 0])
        #expect(ladder.layers.map(\.name) == [.hi, .low])
    }

    @Test func `a layer is paused after a second of silence while another one flows, keeps its name, and goes on`() {
        var ladder = ladder([(1280, 720), (320, 180)])
        #expect(ladder.takeNews() == true)
        #expect(ladder.takeNews() == false)
        for step in 0...30 as ClosedRange<Int64> {
            let hasChanged = ladder.heard(track(1), at: start + .milliseconds(step * 33))
            #expect(!hasChanged)
        }
        let pauses = ladder.heard(track(1), at: start + .milliseconds(1_010))
        #expect(pauses && ladder.layers.map(\.isActive) == [false, true] && ladder.layers.map(\.name) == [.hi, .low])
        #expect(ladder.takeNews() == true)
        let goesOn = ladder.heard(track(0), at: start + .milliseconds(1_500))
        #expect(goesOn && ladder.layers.map(\.isActive) == [true, true])
    }

    @Test func `a layer of one frame a second is not taken for paused`() {
        var ladder = ladder([(1280, 720), (320, 180)])
        for second in 1...3 {
            for layer in 0..<2 { counters.video[layer].count(byteCount: 1_000, endsFrame: true) }
            ladder.measure(counters, at: start + .seconds(second))
            for layer in 0..<2 as Range<UInt8> { _ = ladder.heard(track(layer), at: start + .seconds(second)) }
        }
        let hasChanged = ladder.heard(track(1), at: start + .milliseconds(5_900))
        #expect(!hasChanged && ladder.layers.map(\.isActive) == [true, true])
        #expect(ladder.layers.map(\.framesPerSecond) == [1, 1])
    }

    /// As of a still screen: some seconds have no frame, and some two.
    @Test func `layers whose frames come a little more than a second apart flow all the time`() {
        var ladder = ladder([(1280, 720), (320, 180)])
        var next = 500
        for time in stride(from: 0, through: 30_000, by: 100) {
            let now = start + .milliseconds(time)
            if time >= next {
                for layer in 0..<2 { counters.video[layer].count(byteCount: 1_000, endsFrame: true) }
                for layer in 0..<2 as Range<UInt8> { _ = ladder.heard(track(layer), at: now) }
                next += 1_150
            }
            if time % 1_000 == 0 { ladder.measure(counters, at: now) }
            #expect(time < 3_000 || ladder.layers.allSatisfy { $0.isActive && $0.framesPerSecond == 1 }, "at \(time) ms")
        }
        let changes = [31, 32, 33].map { ladder.heard(track(1), at: start + .seconds($0)) }
        #expect(changes == [false, false, true] && ladder.layers.map(\.isActive) == [false, true])
    }

    @Test func `when all fall silent all are paused; one alone never is`() {
        var several = ladder([(1280, 720), (320, 180)])
        several.measure(counters, at: start + .seconds(2))
        #expect(several.layers.map(\.isActive) == [false, false])
        var one = ladder([(1280, 720)])
        one.measure(counters, at: start + .seconds(2))
        #expect(one.layers.map(\.isActive) == [true])
    }

    @Test func `what flowed until an outage goes on together`() {
        var ladder = ladder([(1280, 720), (640, 360), (320, 180)])
        // The best one had stopped before.
        for step in 0...10 as ClosedRange<Int64> {
            for layer in 1...2 as ClosedRange<UInt8> { _ = ladder.heard(track(layer), at: start + .milliseconds(step * 500)) }
        }
        ladder.measure(counters, at: start + .seconds(7))
        #expect(ladder.layers.map(\.isActive) == [false, false, false])
        _ = ladder.heard(track(2), at: start + .seconds(8))
        #expect(ladder.layers.map(\.isActive) == [false, true, true])
        for time in [8_500, 9_010] as [Int64] { _ = ladder.heard(track(2), at: start + .milliseconds(time)) }
        #expect(ladder.layers.map(\.isActive) == [false, false, true], "it had its second")
    }

    @Test func `a second layer that comes late finds the first one flowing`() {
        var ladder = ladder([(1280, 720)])
        ladder.sized(track(1), rid: "1", width: 640, height: 360, at: start + .seconds(60))
        _ = ladder.heard(track(1), at: start + .seconds(60))
        #expect(ladder.layers.map(\.isActive) == [true, true])
    }

    @Test func `sinks hear of a size, and of rates that move by a quarter`() {
        var ladder = ladder([(1280, 720)])
        #expect(ladder.takeNews() == true)
        ladder.measure(counters, at: start)
        #expect(ladder.takeNews() == false)
        for (second, kilobytes, isNews) in [(1, 100, true), (2, 110, false), (3, 124, false), (4, 180, true)] {
            for _ in 0..<30 { counters.video[0].count(byteCount: kilobytes * 1_000 / 30, endsFrame: true) }
            ladder.measure(counters, at: start + .seconds(second))
            #expect(ladder.takeNews() == isNews, "second \(second)")
        }
        ladder.sized(track(0), rid: "", width: 640, height: 360, at: start)
        #expect(ladder.takeNews() == true)
    }

    @Test(arguments: [1, 2, 5])
    func `seconds with a keyframe and seconds without are one rate`(_ factor: Int) {
        var ladder = ladder([(1280, 720)])
        ladder.measure(counters, at: start)
        #expect(ladder.takeNews() == true)
        var news: [Int] = []
        for second in 1...20 {
            let byteCount = 4_000 * (second % 2 == 0 ? factor : 1)
            for _ in 0..<30 { counters.video[0].count(byteCount: byteCount, endsFrame: true) }
            ladder.measure(counters, at: start + .seconds(second))
            if ladder.takeNews() { news.append(second) }
        }
        #expect(news.count <= 3, "\(news)")
        let mean = 4_000 * 30 * 8 * (1 + factor) / 2
        #expect(abs(ladder.layers[0].bitsPerSecond - mean) <= mean / 8)
    }

    @Test func `a layer is not judged by the part of a second in which it began, nor by what it was before a pause`() {
        var ladder = ladder([(1280, 720), (320, 180)])
        ladder.measure(counters, at: start)
        var rates: [Int] = []
        for (second, kilobytes) in [2, 100, 100, 100, 0, 3, 50, 50].enumerated() {
            counters.video[0].count(byteCount: kilobytes * 1_000, endsFrame: true)
            ladder.measure(counters, at: start + .seconds(second + 1))
            rates.append(ladder.layers[0].bitsPerSecond / 8_000)
        }
        #expect(rates == [2, 100, 100, 100, 0, 3, 50, 50])
    }
}
