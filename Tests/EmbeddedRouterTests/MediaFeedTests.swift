import Admission
import EventLoop
import StageHub
import TestSupport
import Testing
import Wire

@testable import EmbeddedRouter

@Suite("Media feed")
struct MediaFeedTests {
    let feed: MediaFeed
    let writer: MediaFeedWriter
    var pool = MediaBlockPool()

    init() {
        feed = MediaFeed(to: RouterInbox(wakeUp: .media))
        writer = MediaFeedWriter(feed)
    }

    /// One packet's block, lent to one reader.
    mutating func block(
        _ number: Int64, of track: TrackID = .video, isKeyframe: Bool = false, at arrival: MonotonicTime = .zero
    ) throws -> MediaBlock {
        let taken = pool.take(at: arrival)
        let block = try #require(taken)
        let payload: [UInt8] = [UInt8(truncatingIfNeeded: number)]
        payload.withUnsafeBytes { bytes in
            let packet = MediaPacket(sequenceNumber: number, timestamp: 3_000 * number, marker: true, payload: bytes)
            withUnsafePointer(to: packet) { pointer in
                block.fill(
                    UnsafeBufferPointer(start: pointer, count: 1)[...],
                    of: MediaRun(track: track, isKeyframe: isKeyframe, arrival: arrival), epoch: 0, clock: nil)
            }
        }
        block.lend(toReaders: 1)
        return block
    }

    @Test mutating func `blocks come out in order and go back to the pool`() throws {
        for number in 0..<5 { #expect(writer.push(try block(Int64(number))) == .handedOver) }
        #expect(feed.drained() == [0, 1, 2, 3, 4])
        let again = pool.take(at: .zero)
        #expect(again?.isFree == true)
    }

    @Test mutating func `a reader that lags half a second gets nothing until it has caught up, and video from a keyframe on`()
        throws
    {
        let start = MonotonicTime(nanoseconds: 1)
        #expect(writer.push(try block(0, at: start)) == .handedOver)
        #expect(writer.push(try block(1, at: start + .milliseconds(400))) == .handedOver)
        #expect(writer.push(try block(2, at: start + .milliseconds(501))) == .fellBehind)
        #expect(writer.push(try block(3, isKeyframe: true, at: start + .milliseconds(510))) == .skipped, "it has not caught up")
        #expect(feed.drained() == [0, 1])
        #expect(writer.push(try block(4, at: start + .milliseconds(520))) == .awaitsKeyframe)
        #expect(
            writer.push(try block(70, of: .audio, at: start + .milliseconds(525))) == .handedOver, "who sends no video is heard")
        #expect(writer.push(try block(5, isKeyframe: true, at: start + .milliseconds(530))) == .handedOver)
        #expect(writer.push(try block(6, at: start + .milliseconds(540))) == .handedOver)
        #expect(feed.drained() == [70, 5, 6])
        #expect(feed.skippedCount == 2)
    }

    @Test mutating func `a full feed refuses and waits for nobody`() throws {
        for number in 0..<MediaFeed.capacity - 1 { #expect(writer.push(try block(Int64(number))) == .handedOver) }
        #expect(writer.push(try block(1_000, isKeyframe: true)) == .handedOver)
        let further = pool.take(at: .zero)
        #expect(further == nil, "the pool is as large as the feed")
        writer.fallBehind()
        #expect(feed.drained().count == MediaFeed.capacity)
        #expect(writer.push(try block(1)) == .awaitsKeyframe)
        #expect(writer.push(try block(2, isKeyframe: true)) == .handedOver)
    }

    @Test mutating func `a feed that goes away gives back what waits in it`() throws {
        let lent = try block(0)
        do {
            let short = MediaFeed(to: RouterInbox(wakeUp: .media))
            #expect(MediaFeedWriter(short).push(lent) == .handedOver)
        }
        #expect(lent.isFree)
    }

    @Test mutating func `the store finds what is half a second old and gives back the rest`() throws {
        var store = RetransmissionStore()
        let start = MonotonicTime(nanoseconds: 1)
        let old = try block(1, at: start)
        store.keep(old)
        store.keep(try block(2, at: start + .milliseconds(400)))
        #expect(store.find(1, of: .video)?.packet.timestamp == 3_000)
        store.keep(try block(3, at: start + .milliseconds(501)))
        #expect(store.find(1, of: .video) == nil && old.isFree)
        #expect(store.find(2, of: .video) != nil && store.find(3, of: .video) != nil && store.find(4, of: .video) == nil)
        for number in 4..<1_000 { store.keep(try block(Int64(number), at: start + .milliseconds(501))) }
        #expect(store.find(999 - Int64(RetransmissionStore.maximumBlocks), of: .video) == nil)
        #expect(store.find(1_000 - Int64(RetransmissionStore.maximumBlocks), of: .video) != nil)
        store.removeAll()
        #expect(store.find(999, of: .video) == nil)
    }

    /// As when the last viewer of a worker comes to sound alone.
    @Test mutating func `where nobody gets pictures none are kept to be sent again`() throws {
        let key = ParticipantKey("alice", onStage: "s")
        let participant = WatchedParticipant(key: key, now: .zero)
        participant.follow(LiveTap(number: 1, key: key, worker: 0), by: feed)
        let kept = try block(1, isKeyframe: true)
        #expect(writer.push(kept) == .handedOver)
        participant.drain(at: .zero)
        #expect(!kept.isFree)
        participant.want()
        #expect(kept.isFree && participant.store.find(1, of: .video) == nil)
    }

    @Test mutating func `layers whose numbers overlap are told apart`() throws {
        var store = RetransmissionStore()
        let top = TrackID(.video, layer: 2)
        store.keep(try block(7))
        store.keep(try block(7, of: top))
        store.keep(try block(8, of: top))
        let (first, second) = (store.find(7, of: .video), store.find(7, of: top))
        #expect(first?.block.track == .video && second?.block.track == top)
        #expect(store.find(8, of: .video) == nil && store.find(7, of: TrackID(.video, layer: 1)) == nil)
        store.removeAll()
    }

    @Test mutating func `a reader wants sound, and of video what it says`() throws {
        let top = TrackID(.video, layer: 2)
        #expect(feed.wants(.audio) && !feed.wants(.video) && !feed.wants(top))
        var wanted = LayerSet()
        wanted.insert(top)
        feed.want(wanted)
        #expect(!feed.wants(.video) && feed.wants(top))
    }

    /// As where a viewer's way is choked.
    @Test func `of a layer that rests nothing is wanted`() {
        let top = TrackID(.video, layer: 2)
        func wanted(_ layers: LayerSwitch) -> [Bool] {
            var set = LayerSet()
            set.insert(layers)
            return [TrackID.video, top].map { set.contains($0) }
        }
        var layers = LayerSwitch(top)
        #expect(wanted(layers) == [false, true])
        layers.aim(at: .video)
        #expect(wanted(layers) == [true, true], "it goes on until the other begins")
        layers.awaitKeyframe()
        #expect(wanted(layers) == [true, false])
        layers.aim(at: nil)
        #expect(wanted(layers) == [false, false])
    }

    @Test mutating func `after a lag each layer goes on at its own keyframe`() throws {
        let top = TrackID(.video, layer: 2)
        writer.fallBehind()
        #expect(writer.push(try block(0, of: top)) == .awaitsKeyframe)
        #expect(writer.push(try block(1, of: top, isKeyframe: true)) == .handedOver)
        #expect(writer.push(try block(2)) == .awaitsKeyframe)
        #expect(writer.push(try block(3, of: top)) == .handedOver)
        #expect(feed.drained() == [1, 3] && feed.skippedCount == 1, "whoever gets the top layer goes on")
    }

    /// As a store of before 2026-11 found them, whose every miss looked at all it had.
    @Test mutating func `the store finds each packet of its blocks, however late or numbered anew, and none beside them`() throws
    {
        var store = RetransmissionStore()
        var kept: [Int64] = []
        var random = SplitMix64(seed: 9)
        var number: Int64 = 0
        for position in 0..<1_000 {
            // Gaps, and packets that were overtaken.
            number += [1, 3, -1, 2][Int(random.next() % 4)]
            store.keep(try block(number, at: MonotonicTime(nanoseconds: Int64(position) * 10_000_000)))
            kept = (kept + [number]).suffix(51)
            if position == 500 {
                store.removeAll()
                (kept, number) = ([], 0)
            }
            let wanted = (number - 120)...(number + 3)
            #expect(wanted.allSatisfy { (store.find($0, of: .video) != nil) == kept.contains($0) })
        }
    }

    private static func sentAgain(
        of count: Int, _ budget: inout FeedbackBudget, carried: Int? = nil, at now: MonotonicTime
    ) -> Int {
        (0..<count).count { _ in
            guard budget.admitsRetransmission(of: carried, at: now) else { return false }
            budget.retransmitted(at: now)
            return true
        }
    }

    @Test func `feedback is bounded by what is sent`() {
        var budget = FeedbackBudget()
        let clock = FakeClock()
        for _ in 0..<100 { budget.sent(at: clock.now) }
        #expect(Self.sentAgain(of: 200, &budget, at: clock.now) == 84)
        let asked = (0..<3).map { _ in budget.admitsKeyframeRequest(at: clock.now) }
        #expect(asked == [true, false, false])
        clock.advance(by: .milliseconds(500))
        let isAdmitted = budget.admitsKeyframeRequest(at: clock.now)
        #expect(isAdmitted)
        clock.advance(by: .seconds(1))
        #expect(Self.sentAgain(of: 200, &budget, at: clock.now) == 74)
    }

    @Test func `a narrow way is not filled with what it has dropped`() {
        let clock = FakeClock()
        for (carried, most) in [(30_000, 4), (384_000, 10), (5_000_000, 84)] {
            var budget = FeedbackBudget()
            for _ in 0..<100 { budget.sent(at: clock.now) }
            #expect(Self.sentAgain(of: 200, &budget, carried: carried, at: clock.now) == most)
        }
    }
}

extension MediaFeed {
    /// The numbers of what waits; the blocks are given back.
    func drained() -> [Int64] {
        var numbers: [Int64] = []
        drain {
            numbers += $0.packets.map(\.sequenceNumber)
            $0.giveBack()
        }
        return numbers
    }
}
