import EventLoop
import TestSupport
import Testing
import Wire

/// A stream at 30 frames a second, each of some blocks, and a reader that gives back the oldest beyond those that it keeps.
@Suite("BlockPool")
struct BlockPoolTests {
    private final class Census { var (made, living) = (0, 0) }

    private final class Block: LentBlock {
        var isFree = true
        private let census: Census

        init(_ census: Census) {
            self.census = census
            census.made += 1
            census.living += 1
        }

        deinit { census.living -= 1 }
    }

    private final class Stream {
        let census: Census
        var pool: BlockPool<Block>
        private let clock = FakeClock()
        /// Oldest first.
        private(set) var lent: [Block] = []
        private(set) var used = Set<ObjectIdentifier>()

        init(maximumCount: Int = 512, leastCount: Int = 8) {
            let census = Census()
            self.census = census
            pool = BlockPool(maximumCount: maximumCount, leastCount: leastCount) { Block(census) }
        }

        /// - Returns: how many there were.
        @discardableResult
        func take(_ count: Int) -> Int {
            for taken in 0..<count {
                guard let block = pool.take(at: clock.now) else { return taken }
                #expect(block.isFree, "nobody has it")
                block.isFree = false
                lent.append(block)
                used.insert(ObjectIdentifier(block))
            }
            return count
        }

        func giveBack(_ index: Int) { lent.remove(at: index).isFree = true }

        func giveBack(keeping count: Int) {
            for block in lent.dropLast(count) { block.isFree = true }
            lent = lent.suffix(count)
        }

        func wait() { clock.advance(by: .milliseconds(33)) }

        func frame(of count: Int, keeping kept: Int) {
            wait()
            #expect(take(count) == count)
            giveBack(keeping: kept)
        }

        func play(seconds: Int, blocks count: Int, keeping kept: Int) {
            for _ in 0..<seconds * 1_000 / 33 { frame(of: count, keeping: kept) }
        }
    }

    @Test func `there are as many as are out at once, up to the bound, and none beyond`() {
        let stream = Stream(maximumCount: 12)
        stream.play(seconds: 1, blocks: 1, keeping: 4)
        #expect(stream.census.made == 5)
        #expect(stream.take(20) == 8 && stream.census.made == 12)
        stream.giveBack(3)
        #expect(stream.take(2) == 1 && stream.census.made == 12)
    }

    @Test func `what an overload took goes by quarters, half a minute apart, to twice of what is needed`() {
        let stream = Stream()
        stream.take(512)
        stream.giveBack(keeping: 60)
        let counts = (0..<8).map { _ in
            stream.play(seconds: 35, blocks: 2, keeping: 60)
            return stream.census.living
        }
        #expect(counts == [384, 288, 216, 162, 122, 122, 122, 122])
        #expect(stream.census.made == 512)
    }

    /// A keyframe of 100 blocks among frames of two, each held for half a second.
    @Test(arguments: [2, 5, 10])
    func `no keyframe needs a block that was let go of`(seconds: Int) {
        let stream = Stream()
        stream.take(512)
        stream.giveBack(keeping: 30)
        let interval = seconds * 30
        for number in 0..<5 * 60 * 30 {
            let place = number % interval
            stream.frame(of: place == 0 ? 100 : 2, keeping: place < 15 ? 130 : 30)
        }
        #expect(stream.census.made == 512, "none was made anew")
        #expect(132...264 ~= stream.census.living)
    }

    @Test func `whatever order they come back in, no block is lent twice, and none that is out goes`() {
        let stream = Stream(maximumCount: 64)
        var random = SplitMix64(seed: 5)
        var lowest = 64
        for most in [64, 3, 40, 3, 64, 3] {
            while stream.lent.count < 64 { #expect(stream.take(1) == 1) }
            #expect(stream.take(1) == 0 && stream.census.living == 64)
            for _ in 0..<3_600 {
                stream.wait()
                while stream.lent.count > most || random.next() % 3 == 0 && !stream.lent.isEmpty {
                    stream.giveBack(Int(random.next() % UInt64(stream.lent.count)))
                }
                stream.take(Int(random.next() % 3))
                lowest = min(lowest, stream.census.living)
                #expect(stream.lent.count <= stream.census.living)
            }
        }
        #expect(lowest < 64 && stream.census.living < 64)
    }

    @Test func `those reserved are used when those lent once are out, and stay`() {
        let stream = Stream(leastCount: 128)
        stream.pool.reserve()
        #expect(stream.census.made == 128)
        stream.play(seconds: 600, blocks: 2, keeping: 5)
        #expect(stream.used.count == 7 && stream.census.living == 128)
        stream.take(123)
        #expect(stream.used.count == 128 && stream.census.made == 128)
        stream.take(384)
        stream.giveBack(keeping: 5)
        stream.play(seconds: 600, blocks: 2, keeping: 5)
        stream.pool.reserve()
        #expect(stream.census.living == 128 && stream.census.made == 512)
    }

    @Test func `of few none goes`() {
        let stream = Stream()
        stream.take(8)
        stream.giveBack(keeping: 0)
        stream.play(seconds: 600, blocks: 1, keeping: 0)
        #expect(stream.census.living == 8)
    }
}
