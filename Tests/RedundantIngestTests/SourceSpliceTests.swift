import StageHub
import Testing
import Wire

@testable import RedundantIngest

extension SourceSplice {
    /// Clocks that are known by arrival alone.
    fileprivate mutating func begin(after former: Int64?, delay: Int64) {
        begin(after: former.map { SourceClock(delay: $0) }, SourceClock(delay: delay))
    }
}

@Suite("One timeline from two encoders")
struct SourceSpliceTests {
    /// What one encoder sends: a picture every 3,000 ticks and a packet of sound every 960, as they are numbered there.
    private struct Encoder {
        /// Of its clock, seconds.
        var clock: Double
        /// Of its numbers.
        var number: Int64

        /// The `index`-th picture after its clock's begin.
        func picture(_ index: Int64) -> (number: Int64, timestamp: Int64) {
            (number + index * 4, Int64(clock * 90_000) + index * 3_000)
        }

        func sound(_ index: Int64) -> (number: Int64, timestamp: Int64) {
            (number + 7 + index, Int64(clock * 48_000) + index * 960)
        }
    }

    private struct Written {
        var numbers: [Int64] = []
        var timestamps: [Int64] = []
        var isGap = false
        var isContinuous: Bool { zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 } && isRising }
        var isRising: Bool { zip(timestamps, timestamps.dropFirst()).allSatisfy { $0 < $1 } }
    }

    private var splice = SourceSplice()
    private var video = Written()
    private var audio = Written()

    private mutating func pictures(_ encoder: Encoder, _ range: Range<Int64>) {
        for index in range {
            let picture = encoder.picture(index)
            guard let place = splice.place(.video, number: picture.number, count: 4, timestamp: picture.timestamp) else {
                continue
            }
            for packet in 0..<4 as Range<Int64> { video.numbers.append(picture.number + place.number + packet) }
            video.timestamps.append(picture.timestamp + place.shift)
        }
    }

    private mutating func sounds(_ encoder: Encoder, _ range: Range<Int64>) {
        for index in range {
            let sound = encoder.sound(index)
            guard let place = splice.place(.audio, number: sound.number, count: 1, timestamp: sound.timestamp) else { continue }
            audio.numbers.append(sound.number + place.number)
            audio.timestamps.append(sound.timestamp + place.shift)
            audio.isGap = audio.isGap || place.isGap
        }
    }

    /// Two encoders, whose clocks began that many seconds apart; the second is 100 ms behind what the first has shown.
    private mutating func change(between clocks: Double, isOneClock: Bool) {
        let (one, two) = (Encoder(clock: 100, number: 5_000), Encoder(clock: 100 + clocks, number: 90))
        let delay: Int64 = 1_000_000_000
        splice.begin(after: nil, delay: delay)
        pictures(one, 0..<60)
        sounds(one, 0..<100)
        splice.begin(after: delay, delay: delay - Int64(clocks * 1e9))
        // A group that is kept since a second ago.
        pictures(two, 30..<90)
        sounds(two, 50..<150)
    }

    @Test(arguments: [0.0, 0.1, 3_600, -99.9])
    func `numbers and timestamps rise, and both tracks are moved alike`(clocks: Double) throws {
        var test = self
        test.change(between: clocks, isOneClock: false)
        #expect(test.video.isContinuous && test.audio.isContinuous)
        #expect(zip(test.video.numbers, test.video.numbers.dropFirst()).allSatisfy { $0 + 1 == $1 }, "no number is left out")
        #expect(zip(test.audio.numbers, test.audio.numbers.dropFirst()).allSatisfy { $0 + 1 == $1 })
        let (picture, sound) = (try #require(test.video.timestamps.last), try #require(test.audio.timestamps.last))
        // Picture 89 and sound 149 of an encoder are 2.967 and 2.98 s after its clock's begin.
        let skew = Double(sound) / 48_000 - Double(picture) / 90_000 - (149 * 0.02 - 89.0 / 30)
        #expect(abs(skew) <= 0.01, "\(skew)")
    }

    @Test func `on one clock the picture goes on where it was`() {
        var test = self
        test.change(between: 0, isOneClock: true)
        #expect(test.video.timestamps.last == Int64(100 * 90_000 + 89 * 3_000))
        #expect(test.audio.timestamps == (0..<150).map { 100 * 48_000 + $0 * 960 } && !test.audio.isGap)
    }

    @Test func `pictures that were shown lie next to each other, and no sound is heard twice`() {
        var test = self
        test.change(between: 3_600, isOneClock: false)
        let steps = zip(test.video.timestamps, test.video.timestamps.dropFirst()).map { $1 - $0 }
        #expect(steps[59..<88].allSatisfy { $0 == SourceSplice.squeezed }, "\(steps[55..<92])")
        #expect(steps.last == 3_000)
        #expect(test.audio.timestamps.count == 150 && !test.audio.isGap)
    }

    /// Each slice of it in a message of its own.
    @Test func `a picture that comes in several runs has one time, shown before or not`() {
        var splice = SourceSplice()
        splice.begin(after: nil, delay: 0)
        _ = splice.place(.video, number: 0, count: 4, timestamp: 30_000)
        splice.begin(after: 0, delay: 0)
        var times: [Int64?] = []
        for (number, timestamp) in [(50, 27_000), (51, 27_000), (52, 30_000), (53, 30_000), (54, 33_000)] as [(Int64, Int64)] {
            let place = splice.place(.video, number: number, count: 1, timestamp: timestamp)
            times.append(place.map { timestamp + $0.shift })
        }
        #expect(times == [30_009, 30_009, 30_018, 30_018, 33_000])
    }

    @Test func `a group that begins behind the newest picture is reached, whenever it came`() {
        var test = self
        #expect(test.splice.reaches(7, of: .video), "nothing has been shown")
        let one = Encoder(clock: 100, number: 0)
        test.splice.begin(after: nil, delay: 1_000_000_000)
        test.pictures(one, 0..<65)
        // The other one's way is 200 ms shorter: of it picture 70 is here already.
        test.splice.begin(after: 1_000_000_000, delay: 800_000_000)
        let reached = (60...70).filter { test.splice.reaches(one.picture($0).timestamp, of: .video) }
        #expect(reached == [60, 61, 62, 63, 64, 65], "the next one, and none that leaves it out")
        // The same by a clock of its own.
        test.splice.begin(after: 800_000_000, delay: -3_599_200_000_000)
        let far = Encoder(clock: 3_700, number: 0)
        #expect(test.splice.reaches(far.picture(60).timestamp, of: TrackID(.video, layer: 1)))
        #expect(!test.splice.reaches(far.picture(80).timestamp, of: .video))
    }

    @Test func `sound at half a packet's distance is moved, sound that is late is a gap`() {
        var test = self
        test.splice.begin(after: nil, delay: 0)
        test.sounds(Encoder(clock: 0, number: 0), 0..<10)
        test.splice.begin(after: 0, delay: 0)
        test.sounds(Encoder(clock: 0.0085, number: 0), 5..<12)
        #expect(test.audio.timestamps.prefix(12) == (0..<12).map { $0 * 960 }[...] && !test.audio.isGap)
        test.splice.begin(after: 0, delay: 0)
        test.sounds(Encoder(clock: 1, number: 0), 0..<3)
        #expect(test.audio.isGap && test.audio.timestamps.last == 48_000 + 2 * 960)
    }

    @Test func `after both were away the time that passed has passed`() {
        var test = self
        let (one, two) = (Encoder(clock: 0, number: 0), Encoder(clock: 0, number: 0))
        test.splice.begin(after: nil, delay: 1_000_000_000)
        test.pictures(one, 0..<30)
        // It connected anew six seconds after it began at first, with its clock at zero.
        test.splice.begin(after: 1_000_000_000, delay: 7_000_000_000)
        test.pictures(two, 0..<30)
        #expect(test.video.timestamps.last == 6 * 90_000 + 29 * 3_000 && test.video.isContinuous)
    }

    @Test func `a switch there and back comes to where it was`() {
        var test = self
        let (one, two) = (Encoder(clock: 0, number: 0), Encoder(clock: 500, number: 0))
        test.splice.begin(after: nil, delay: 1_000_000_000)
        test.pictures(one, 0..<30)
        test.splice.begin(after: 1_000_000_000, delay: -499_000_000_000)
        test.pictures(two, 30..<60)
        test.splice.begin(after: -499_000_000_000, delay: 1_000_000_000)
        test.pictures(one, 60..<90)
        #expect(test.splice.offset == 0 && test.video.timestamps == (0..<90).map { $0 * 3_000 })
    }
}
