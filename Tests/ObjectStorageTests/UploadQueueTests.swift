import TestSupport
import Testing
import Wire

@testable import ObjectStorage

@Suite("What waits to be stored")
struct UploadQueueTests {
    static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    static func item(_ id: UInt64, bucket: String = "b") -> UploadQueue.Item {
        UploadQueue.Item(id: id, bucket: bucket)
    }

    static func queue(_ items: [UploadQueue.Item]) -> UploadQueue {
        var queue = UploadQueue()
        let isAdded = items.map { queue.add($0) }
        #expect(!isAdded.contains(false))
        return queue
    }

    @Test func `what is stored waits no longer`() {
        var queue = Self.queue([Self.item(1), Self.item(2)])
        #expect(queue.count == 2 && queue.inFlight == 0)
        #expect(queue.due(at: Self.start).map(\.id) == [1, 2])
        #expect(queue.due(at: Self.start).isEmpty)
        #expect(queue.finished(2, nil, at: Self.start) == .stored)
        #expect(queue.count == 1 && queue.inFlight == 1)
        #expect(queue.finished(1, nil, at: Self.start) == .stored)
        #expect(queue.count == 0 && queue.inFlight == 0 && queue.nextAttempt == nil)
    }

    @Test func `a bucket that is away is asked again, ever more seldom, and for hours`() {
        var (queue, now) = (Self.queue([Self.item(1)]), Self.start)
        var delays: [Duration] = []
        while delays.count < 10 {
            #expect(queue.due(at: now).count == 1)
            #expect(queue.finished(1, .transient("503"), at: now) == nil)
            #expect(queue.due(at: now).isEmpty)
            let next = queue.nextAttempt ?? now
            delays.append(next - now)
            now = next
        }
        #expect(delays == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60].map { .seconds($0) })
        now = Self.start + UploadQueue.patience
        _ = queue.due(at: now)
        #expect(queue.finished(1, .transient("503"), at: now) == .failed("503"))
        #expect(queue.count == 0)
    }

    @Test func `what a bucket refuses at first is over, and nothing else`() {
        var queue = Self.queue([Self.item(1), Self.item(2)])
        _ = queue.due(at: Self.start)
        #expect(queue.finished(1, .refused("403"), at: Self.start) == .failed("403"))
        #expect(queue.count == 1 && queue.inFlight == 1)
        #expect(queue.finished(2, nil, at: Self.start) == .stored)
    }

    @Test func `a bucket that has taken something may refuse for a minute`() {
        var (queue, now) = (Self.queue([Self.item(1), Self.item(2), Self.item(3)]), Self.start)
        _ = queue.due(at: now)
        #expect(queue.finished(1, nil, at: now) == .stored)
        #expect(queue.finished(2, .refused("403"), at: now) == nil)
        #expect(queue.finished(3, .refused("403"), at: now) == nil)
        now = queue.nextAttempt ?? now
        #expect(queue.due(at: now).map(\.id) == [2])
        #expect(queue.finished(2, nil, at: now) == .stored, "its key was exchanged")
        #expect(queue.due(at: now).map(\.id) == [3])
        now = Self.start + UploadQueue.patienceWithRefusals
        #expect(queue.finished(3, .refused("403"), at: now) == .failed("403"))
        #expect(queue.count == 0)
    }

    /// As after a restart.
    @Test func `a bucket that has taken something of a recording may refuse the rest for a minute`() {
        let rest = UploadQueue.Item(id: 1, bucket: "b", isBucketProven: true)
        var queue = Self.queue([rest, Self.item(2)])
        _ = queue.due(at: Self.start)
        #expect(queue.finished(1, .refused("403"), at: Self.start) == nil)
        #expect(queue.finished(2, .refused("403"), at: Self.start) == .failed("403"), "a new recording is told at once")
        let now = Self.start + UploadQueue.patienceWithRefusals
        #expect(queue.due(at: now).map(\.id) == [1])
        #expect(queue.finished(1, .refused("403"), at: now) == .failed("403"))
    }

    @Test func `a bucket that was away for long may refuse for a minute when it is back`() {
        var (queue, now) = (Self.queue([Self.item(1), Self.item(2)]), Self.start)
        _ = queue.due(at: now)
        #expect(queue.finished(1, nil, at: now) == .stored)
        for fault in [.transient("503"), .refused("403"), .transient("503"), .refused("403")] as [StorageFault] {
            #expect(queue.finished(2, fault, at: now) == nil)
            now = now + UploadQueue.patienceWithRefusals
            #expect(queue.due(at: now).map(\.id) == [2])
        }
        #expect(queue.finished(2, nil, at: now) == .stored)
    }

    @Test func `a bucket that is back is asked for all that waits there`() {
        var queue = Self.queue([Self.item(1), Self.item(2), Self.item(3, bucket: "x")])
        for item in queue.due(at: Self.start) { _ = queue.finished(item.id, .transient(""), at: Self.start) }
        let first = Self.start + .seconds(1)
        #expect(queue.due(at: first).map(\.id) == [1, 3], "one to each bucket that is away")
        _ = queue.finished(3, .transient(""), at: first)
        #expect(queue.finished(1, nil, at: first) == .stored)
        #expect(queue.due(at: first).map(\.id) == [2], "the other bucket is away as before")
    }

    @Test func `a bucket that is away takes no other one's places`() {
        let (count, now) = (UploadQueue.maximumInFlight, Self.start + .seconds(1))
        var queue = Self.queue((0..<UInt64(count)).map { Self.item($0, bucket: "x") })
        for item in queue.due(at: Self.start) { _ = queue.finished(item.id, .transient(""), at: Self.start) }
        let isAdded = (100..<103).map { queue.add(Self.item($0)) }
        #expect(isAdded == [true, true, true])
        #expect(queue.due(at: now).map(\.id) == [0, 100, 101, 102])
        #expect(queue.nextAttempt == nil, "an answer alone can change that")
        for id in 100..<103 as Range<UInt64> { _ = queue.finished(id, nil, at: now) }
        _ = queue.finished(0, .transient(""), at: now)
        #expect(queue.due(at: now).map(\.id) == [1], "the next one tries")
        _ = queue.finished(1, nil, at: now)
        #expect(queue.due(at: now).count == count - 1, "it is back: all go")
    }

    @Test func `a bucket that takes its time takes no other one's places`() {
        let count = UploadQueue.maximumInFlight
        var queue = Self.queue((0..<UInt64(count + 1)).map { Self.item($0, bucket: "x") })
        let slow = queue.due(at: Self.start).count
        let isAdded = (100..<102).map { queue.add(Self.item($0)) }
        let others = queue.due(at: Self.start).map(\.id)
        #expect(isAdded == [true, true] && slow == count && others == [100, 101])
        #expect(queue.nextAttempt == nil, "an answer alone can change that")
    }

    @Test func `what is withdrawn leaves its place, and its bucket as it stands`() {
        var queue = Self.queue([Self.item(1), Self.item(2)])
        for item in queue.due(at: Self.start) { _ = queue.finished(item.id, .transient(""), at: Self.start) }
        let now = Self.start + .seconds(1)
        let first = queue.due(at: now).map(\.id)
        queue.withdraw(1)
        let second = queue.due(at: now).map(\.id)
        queue.withdraw(2)
        #expect(first == [1] && second == [2] && queue.count == 0 && queue.nextAttempt == nil)
    }

    @Test func `only so many are under way, and who was not tried yet comes first`() {
        let count = UInt64(UploadQueue.maximumInFlight)
        var queue = Self.queue((0..<count + 3).map { Self.item($0) })
        let first = queue.due(at: Self.start)
        #expect(first.map(\.id) == Array(0..<count) && queue.nextAttempt == nil)
        for item in first { _ = queue.finished(item.id, .transient(""), at: Self.start) }
        #expect(queue.due(at: Self.start + .seconds(1)).map(\.id) == [count])
    }

    /// However answers come, each object ends once, and nothing is forgotten.
    @Test(arguments: 0..<50) func `a random walk ends every object once`(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var (queue, now, endings, added) = (UploadQueue(), Self.start, [UInt64: Int](), 0 as UInt64)
        var flying: [UInt64] = []
        for step in 0..<2_000 {
            if step < 1_000, Bool.random(using: &random) {
                added += 1
                let isAdded = queue.add(Self.item(added, bucket: Bool.random(using: &random) ? "b" : "x"))
                #expect(isAdded)
            }
            flying += queue.due(at: now).map(\.id)
            #expect(flying.count == queue.inFlight && queue.inFlight <= 2 * UploadQueue.maximumInFlight)
            if let index = flying.indices.randomElement(using: &random) {
                let id = flying.remove(at: index)
                let faults: [StorageFault?] = [nil, nil, .transient("t"), .refused("f")]
                let fault = faults[Int.random(in: 0..<faults.count, using: &random)]
                if queue.finished(id, fault, at: now) != nil { endings[id, default: 0] += 1 }
            }
            now = now + .milliseconds(Int.random(in: 0...2_000, using: &random))
        }
        while queue.count > 0 {
            now = max(now, queue.nextAttempt ?? now)
            for id in flying + queue.due(at: now).map(\.id) where queue.finished(id, nil, at: now) != nil {
                endings[id, default: 0] += 1
            }
            flying = []
        }
        #expect(endings.count == Int(added) && endings.values.allSatisfy { $0 == 1 })
        #expect(queue.inFlight == 0)
    }
}
