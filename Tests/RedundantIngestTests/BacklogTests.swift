import StageHub
import TestSupport
import Testing
import Wire

@testable import RedundantIngest

/// What is kept of a source that begins, on its way.
@Suite("A source that catches up")
struct BacklogTests {
    private let start = MonotonicTime(nanoseconds: 5_000_000_000)

    /// Blocks of 16 packets each, lent.
    private static func blocks(_ count: Int) -> [FeedBlock] {
        let payload: [UInt8] = [1, 2, 3]
        return (0..<count).map { number in
            let block = FeedBlock()
            payload.withUnsafeBytes { payload in
                let packets = (0..<FeedBlock.maximumPackets).map { index in
                    MediaPacket(
                        sequenceNumber: Int64(number * FeedBlock.maximumPackets + index), timestamp: 0, marker: false,
                        payload: payload)
                }
                packets.withUnsafeBufferPointer {
                    _ = block.fill(
                        $0[...], of: MediaRun(track: .video, isKeyframe: false, arrival: .zero), news: [], followsLoss: false)
                }
            }
            block.lend()
            return block
        }
    }

    private static func backlog(of blocks: [FeedBlock], at now: MonotonicTime) -> Backlog {
        var backlog = Backlog()
        for block in blocks { backlog.append(block) }
        backlog.begin(at: now)
        return backlog
    }

    private static func areFree(_ blocks: [FeedBlock]) -> Bool { blocks.allSatisfy(\.isFree) }

    private static func takeAll(_ backlog: inout Backlog, at now: MonotonicTime) -> Int {
        var count = 0
        while let block = backlog.next(at: now) {
            count += block.packets.count
            block.giveBack()
        }
        return count
    }

    @Test(arguments: [1, 4, 100, 900])
    func `goes evenly, all of it within a tenth of a second`(_ blockCount: Int) {
        let blocks = Self.blocks(blockCount)
        var backlog = Self.backlog(of: blocks, at: start)
        var (sent, largest) = (0, 0)
        for step in 0..<50 {
            let count = Self.takeAll(&backlog, at: start + Backlog.stepInterval * step)
            largest = max(largest, count)
            sent += count
        }
        #expect(backlog.isEmpty && sent == blockCount * FeedBlock.maximumPackets)
        // A step's share, and as much as the last block has beyond it.
        #expect(largest <= max(8, sent / 50 + 1) + FeedBlock.maximumPackets)
        #expect(Self.areFree(blocks))
    }

    @Test func `what comes meanwhile waits behind it, a clock that stood still is made up for`() {
        var backlog = Self.backlog(of: Self.blocks(40), at: start)
        let first = Self.takeAll(&backlog, at: start)
        #expect(first < 40 * FeedBlock.maximumPackets)
        for block in Self.blocks(3) { backlog.append(block) }
        #expect(!backlog.isEmpty)
        _ = Self.takeAll(&backlog, at: start + .milliseconds(300))
        #expect(backlog.isEmpty)
    }

    @Test func `goes at once where nothing more comes`() {
        var backlog = Self.backlog(of: Self.blocks(40), at: start)
        backlog.hurry()
        let count = Self.takeAll(&backlog, at: start)
        #expect(count == 40 * FeedBlock.maximumPackets && backlog.isEmpty)
    }

    @Test func `is given back where the source is another one before it has gone`() {
        let blocks = Self.blocks(40)
        var backlog = Self.backlog(of: blocks, at: start)
        _ = Self.takeAll(&backlog, at: start)
        backlog.removeAll()
        #expect(backlog.isEmpty && Self.areFree(blocks))
        let next = backlog.next(at: start + .seconds(1))
        #expect(next == nil)
    }
}
