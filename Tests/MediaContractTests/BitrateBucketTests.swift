import TestSupport
import Testing
import Wire

@testable import MediaContract

@Suite("BitrateBucket")
struct BitrateBucketTests {
    /// Seconds of media until it runs over; nil when it never does.
    private func overflow(
        _ bitsPerSecond: Double, seconds: Int, frameRate: Int = 30, clockRate: Double = 1, arrival: (Double) -> Double = { $0 },
        mediaTime: (Double) -> Double = { $0 }
    ) -> Double? {
        var bucket = BitrateBucket(limit: 8_500_000)
        for index in 0..<(seconds * frameRate) {
            let time = Double(index) / Double(frameRate)
            let moment = MediaMoment(
                mediaTime: Int64(mediaTime(time) * 90_000 * clockRate),
                arrival: MonotonicTime(nanoseconds: Int64(arrival(time) * 1e9) + 1))
            if bucket.add(byteCount: Int(bitsPerSecond) / 8 / frameRate, moment) { return time }
        }
        return nil
    }

    @Test
    func `holds the limit for a day, with a clock 100 ppm fast or slow`() {
        for rate in [1, 1.0001, 0.9999] {
            #expect(overflow(8_500_000, seconds: 24 * 3_600, frameRate: 4, clockRate: rate) == nil)
        }
    }

    @Test
    func `9.5 Mbit/s runs over within 12 s and 12 within 4`() {
        #expect((overflow(9_500_000, seconds: 30) ?? 99) < 12)
        #expect((overflow(12_000_000, seconds: 30) ?? 99) < 4)
    }

    @Test
    func `a TCP stall of three seconds delivered in one burst is no burst of media`() {
        #expect(overflow(8_400_000, seconds: 60, arrival: { $0 > 20 && $0 < 23 ? 23 : $0 }) == nil)
    }

    @Test
    func `media time that runs fast buys five seconds once`() {
        let honest = overflow(20_000_000, seconds: 60) ?? 99
        let cheating = overflow(20_000_000, seconds: 60, mediaTime: { $0 * 3 }) ?? 99
        #expect(honest < 1)
        #expect(cheating < 6)
    }

    /// What one of several layers sends, from a clock that began anywhere, at 30 frames a second.
    private struct Layer {
        var bitsPerSecond: Double
        var clock: Int64 = 0
        /// Seconds in which it sends nothing, and whether its clock stands still then.
        var pause: Range<Double> = 0..<0
        var stopsClock = false

        func mediaTime(at time: Double) -> Int64 {
            let lost = stopsClock && time >= pause.upperBound ? pause.upperBound - pause.lowerBound : 0
            return clock + Int64((time - lost) * 90_000)
        }
    }

    /// Seconds until a bucket runs over that these layers fill.
    private func overflow(_ layers: [Layer], seconds: Int) -> Double? {
        var bucket = BitrateBucket(limit: 8_500_000)
        for index in 0..<(seconds * 30) {
            let time = Double(index) / 30
            for (place, layer) in layers.enumerated() where !layer.pause.contains(time) {
                let moment = MediaMoment(
                    mediaTime: layer.mediaTime(at: time), arrival: MonotonicTime(nanoseconds: Int64(time * 1e9) + 1))
                if bucket.add(byteCount: Int(layer.bitsPerSecond) / 240, of: UInt8(place), moment) { return time }
            }
        }
        return nil
    }

    @Test(arguments: [0, 1, 4_000_000_000, -4_000_000_000] as [Int64])
    func `three layers are one sum, wherever their clocks began`(_ clock: Int64) {
        func layers(_ rate: Double) -> [Layer] {
            [Layer(bitsPerSecond: rate), Layer(bitsPerSecond: rate, clock: clock), Layer(bitsPerSecond: rate, clock: 2 * clock)]
        }
        #expect(overflow(layers(2_800_000), seconds: 600) == nil)
        #expect((overflow(layers(4_000_000), seconds: 30) ?? 99) < 4)
    }

    @Test(arguments: [false, true])
    func `a layer that paused, its clock standing still or not, is no burst when it goes on alone`(_ stopsClock: Bool) {
        let layers = [
            Layer(bitsPerSecond: 5_000_000, pause: 60..<999),
            Layer(bitsPerSecond: 2_500_000, clock: 77, pause: 10..<40, stopsClock: stopsClock),
        ]
        #expect(overflow(layers, seconds: 120) == nil)
    }

    @Test
    func `two layers that run ahead by turns buy five seconds once`() {
        var bucket = BitrateBucket(limit: 8_500_000)
        var overflow: Double?
        for index in 0..<600 where overflow == nil {
            let time = Double(index) / 30
            let moment = MediaMoment(
                mediaTime: Int64(index) * 9_000, arrival: MonotonicTime(nanoseconds: Int64(time * 1e9) + 1))
            if bucket.add(byteCount: 20_000_000 / 240, of: UInt8(index % 2), moment) { overflow = time }
        }
        #expect((overflow ?? 99) < 6)
    }

    @Test
    func `jumps of the media time in both directions change nothing`() {
        #expect(overflow(8_400_000, seconds: 60, mediaTime: { $0 > 20 ? $0 - 4 : $0 }) == nil)
        #expect(overflow(8_400_000, seconds: 60, mediaTime: { $0 > 20 ? $0 + 3_600 : $0 }) == nil)
        #expect(overflow(8_400_000, seconds: 60, arrival: { $0 > 30 ? $0 + 5 : $0 }, mediaTime: { $0 > 30 ? $0 + 5 : $0 }) == nil)
        // A jump forward in every picture buys nothing.
        #expect((overflow(20_000_000, seconds: 60, mediaTime: { $0 * 300 }) ?? 99) < 2)
    }
}
