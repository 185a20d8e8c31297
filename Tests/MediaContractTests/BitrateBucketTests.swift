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

    @Test
    func `jumps of the media time in both directions change nothing`() {
        #expect(overflow(8_400_000, seconds: 60, mediaTime: { $0 > 20 ? $0 - 4 : $0 }) == nil)
        #expect(overflow(8_400_000, seconds: 60, mediaTime: { $0 > 20 ? $0 + 3_600 : $0 }) == nil)
        #expect(overflow(8_400_000, seconds: 60, arrival: { $0 > 30 ? $0 + 5 : $0 }, mediaTime: { $0 > 30 ? $0 + 5 : $0 }) == nil)
        // A jump forward in every picture buys nothing.
        #expect((overflow(20_000_000, seconds: 60, mediaTime: { $0 * 300 }) ?? 99) < 2)
    }
}
