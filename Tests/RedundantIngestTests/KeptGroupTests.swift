import EventLoop
import StageHub
import Testing
import Wire

@testable import RedundantIngest

/// An encoder's blocks as they come, 50 a second: each a picture of one packet, or of sound.
@Suite("What is kept of a standby")
struct KeptGroupTests {
    private static let begin = MonotonicTime(nanoseconds: 1_000_000_000)

    private var kept = KeptGroup()
    private var blocks: [FeedBlock] = []

    /// Brings a block, `time` after the begin.
    private mutating func bring(
        _ track: TrackID = .video, at time: Duration, isKeyframe: Bool = false, byteCount: Int = 1_000, followsLoss: Bool = false
    ) {
        let (block, payload) = (FeedBlock(), [UInt8](repeating: 7, count: byteCount))
        let timestamp = time.nanoseconds / 1_000
        unsafe payload.withUnsafeBytes { bytes in
            let packet = MediaPacket(
                sequenceNumber: Int64(blocks.count), timestamp: timestamp, marker: true, payload: bytes)
            unsafe withUnsafePointer(to: packet) { pointer in
                let run = MediaRun(track: track, isKeyframe: isKeyframe, arrival: Self.begin + time)
                let packets = unsafe UnsafeBufferPointer(start: pointer, count: 1)
                #expect(unsafe block.fill(packets[...], of: run, news: [], followsLoss: followsLoss) == 1)
            }
        }
        block.lend()
        blocks.append(block)
        kept.keep(block)
    }

    /// Pictures and sound from one time to another, in ms, with keyframes so far apart.
    private mutating func bring(_ times: Range<Int>, keyframes interval: Int, byteCount: Int = 1_000) {
        for time in stride(from: times.lowerBound, to: times.upperBound, by: 20) {
            bring(at: .milliseconds(time), isKeyframe: time % interval == 0, byteCount: byteCount)
            bring(.audio, at: .milliseconds(time), byteCount: 100)
        }
    }

    /// What is handed out where the stage has what came until `moment` after the begin: when it came, in ms.
    private mutating func released(after moment: Duration) -> (pictures: [Int], sounds: [Int]) {
        var (pictures, sounds) = ([Int](), [Int]())
        kept.release(after: { $0.run.arrival <= Self.begin + moment }) { block in
            let time = Int((block.run.arrival - Self.begin).milliseconds)
            if block.run.track.kind == .video { pictures.append(time) } else { sounds.append(time) }
            block.giveBack()
        }
        return (pictures, sounds)
    }

    private var held: [FeedBlock] { blocks.filter { !$0.isFree } }

    @Test func `nothing is kept before a keyframe`() {
        var test = self
        test.bring(20..<900, keyframes: 1_000)
        #expect(!test.kept.isReady && test.held.isEmpty)
        test.bring(1_000..<1_020, keyframes: 1_000)
        #expect(test.kept.isReady && test.held.count == 2)
    }

    @Test(arguments: [(2_990, 2_000), (2_000, 2_000), (1_980, 1_000), (1_000, 1_000), (500, 1_000)])
    func `what begins with the newest picture that was shown is handed out, and sound from before`(moment: Int, first: Int) {
        var test = self
        test.bring(0..<2_480, keyframes: 1_000)
        let released = test.released(after: .milliseconds(moment))
        #expect(released.pictures == Array(stride(from: first, to: 2_480, by: 20)))
        #expect(released.sounds == Array(stride(from: 1_000, to: 2_480, by: 20)))
        #expect(test.held.isEmpty && !test.kept.isReady && test.kept.byteCount == 0)
    }

    @Test func `a group goes once the next one reaches back to a standstill that is noticed now`() {
        var test = self
        test.bring(0..<1_600, keyframes: 1_000)
        #expect(test.held.first === test.blocks.first)
        test.bring(1_600..<1_620, keyframes: 1_000)
        #expect(test.held.count == 2 * 31 && test.kept.byteCount == 31 * 1_100)
    }

    @Test(arguments: [20, 100, 500, 1_000, 2_000])
    func `what is held is bounded in time, however often keyframes come`(interval: Int) {
        var test = self
        for time in stride(from: 0, to: 20_000, by: 500) {
            test.bring(time..<time + 500, keyframes: interval, byteCount: 1_000)
            let most = (interval + Int(KeptGroup.reach.milliseconds)) / 20 + 1
            #expect(test.held.count <= 2 * most, "\(test.held.count) at \(time)")
            #expect(test.kept.byteCount == test.held.reduce(0) { $0 + $1.byteCount })
        }
    }

    @Test func `a group without an end is let go of, by time and by bytes`() {
        var test = self
        test.bring(0..<2_220, keyframes: 100_000)
        #expect(test.kept.isReady)
        test.bring(2_220..<2_260, keyframes: 100_000)
        #expect(!test.kept.isReady && test.held.isEmpty)
        for time in 0..<400 { test.bring(at: .milliseconds(3_000 + time), isKeyframe: time == 0, byteCount: 19_000) }
        #expect(test.kept.byteCount < KeptGroup.maximumByteCount && test.held.isEmpty)
    }

    /// Groups of so many seconds, of blocks of so many bytes, so many for each picture.
    @Test(arguments: [(10, 1_000, 1), (10, 19_000, 2), (2, 19_000, 6), (1, 19_000, 20), (1_000, 19_000, 1)])
    func `a minute of whatever a standby brings is held for three seconds and four megabytes at most`(
        group: Int, byteCount: Int, count: Int
    ) {
        var test = self
        var (most, longest) = (0, Duration.zero)
        for time in stride(from: 0, to: 60_000, by: 20) {
            for part in 0..<count {
                test.bring(at: .milliseconds(time), isKeyframe: time % (1_000 * group) == 0 && part == 0, byteCount: byteCount)
            }
            test.bring(.audio, at: .milliseconds(time), byteCount: 100)
            // What was given back need not be looked at again.
            test.blocks.removeAll { $0.isFree }
            #expect(test.kept.byteCount == test.blocks.reduce(0) { $0 + $1.byteCount })
            most = max(most, test.kept.byteCount)
            if let oldest = test.blocks.first { longest = max(longest, Self.begin + .milliseconds(time) - oldest.run.arrival) }
        }
        #expect(most > 0 && most <= KeptGroup.maximumByteCount && longest <= KeptGroup.maximumAge + KeptGroup.reach)
    }

    /// No sound comes between, which would let go of pictures by its time; a keyframe a second, or none but the first.
    @Test(arguments: [300, 500, 1_000], [1, 3_600])
    func `pictures of a standby never want for blocks, however fast they come`(rate: Int, interval: Int) {
        var (test, most, readiness) = (self, 0, 0)
        for number in 0..<5 * rate {
            let time = Duration.microseconds(number * 1_000_000 / rate)
            test.bring(at: time, isKeyframe: number % (interval * rate) == 0, byteCount: 100)
            test.blocks.removeAll { $0.isFree }
            most = max(most, test.blocks.count)
            if test.kept.isReady { readiness += 1 }
        }
        #expect(most > 400 && most < FeedBlockPool.maximumOfPictures - 200)
        #expect(readiness > rate / 2, "a group that short is kept")
    }

    @Test func `an encoder's blocks have an end, and take twenty megabytes at most`() {
        var bytes = 0
        for (pool, count, size) in [
            (FeedBlockPool.ofPictures, FeedBlockPool.maximumOfPictures, FeedBlock.size),
            (.ofSound, FeedBlockPool.maximumOfSound, FeedBlock.sizeForSound),
        ] {
            var (pool, blocks) = (pool, [FeedBlock]())
            while let block = pool.take(at: .zero) {
                block.lend()
                blocks.append(block)
            }
            #expect(blocks.count == count)
            bytes += count * size
            blocks[7].giveBack()
            #expect(pool.take(at: .zero) === blocks[7])
        }
        #expect(bytes < 20_000_000)
    }

    @Test func `what was lost on the way ends the group`() {
        var test = self
        test.bring(0..<500, keyframes: 1_000)
        test.bring(at: .milliseconds(520), followsLoss: true)
        #expect(!test.kept.isReady && test.held.isEmpty)
    }

    @Test func `layers' keyframes of one moment are one group`() {
        var test = self
        let second = TrackID(.video, layer: 1)
        for time in stride(from: 0, to: 2_000, by: 1_000) {
            for track in [TrackID.video, second] { test.bring(track, at: .milliseconds(time), isKeyframe: true) }
        }
        #expect(test.held.count == 4)
        test.bring(at: .milliseconds(1_600))
        #expect(test.held.count == 3, "both keyframes of the first group have gone, at once")
    }
}
