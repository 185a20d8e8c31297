import TestSupport
import Testing
import Wire

@testable import ObjectStorage

@Suite("What waits to be stored")
struct UploadQueueTests {
    static let start = MonotonicTime(nanoseconds: 1_000_000_000_000)

    static func item(
        _ id: UInt64, lane: String = "a", key: String? = nil, bucket: String = "b", isReplaceable: Bool = false
    ) -> UploadQueue.Item {
        UploadQueue.Item(
            id: id, bucket: bucket, lane: lane, key: key ?? "\(id).mp4", addedAt: start, isReplaceable: isReplaceable)
    }

    @Test func `a lane's objects are stored one after the other, lanes beside each other`() {
        var queue = UploadQueue()
        for item in [Self.item(1), Self.item(2), Self.item(3, lane: "z")] { #expect(queue.add(item) == []) }
        #expect(queue.due(at: Self.start).map(\.id) == [1, 3])
        #expect(queue.due(at: Self.start).isEmpty)
        #expect(queue.finished(Self.item(1), .stored, at: Self.start) == [.stored(1)])
        #expect(queue.due(at: Self.start).map(\.id) == [2])
        #expect(queue.finished(Self.item(3, lane: "z"), .stored, at: Self.start) == [.stored(3)])
        #expect(queue.finished(Self.item(2), .stored, at: Self.start) == [.stored(2)])
        #expect(queue.count == 0 && queue.inFlight == 0 && queue.nextAttempt == nil && queue.oldest == nil)
    }

    @Test func `a newer playlist takes the place of one that waits, behind the segments that it names`() {
        var queue = UploadQueue()
        let playlist = { (id: UInt64) in Self.item(id, key: "playlist.m3u8", isReplaceable: true) }
        #expect(queue.add(playlist(1)) == [])
        #expect(queue.due(at: Self.start).map(\.id) == [1])
        // The first one is under way and cannot be replaced.
        #expect(queue.add(Self.item(2)) == [] && queue.add(playlist(3)) == [])
        #expect(queue.add(Self.item(4)) == [] && queue.add(playlist(5)) == [.replaced(3)])
        var stored: [UInt64] = []
        _ = queue.finished(playlist(1), .stored, at: Self.start)
        while let item = queue.due(at: Self.start).first {
            stored.append(item.id)
            _ = queue.finished(item, .stored, at: Self.start)
        }
        #expect(stored == [2, 4, 5])
    }

    @Test func `a bucket that is away is asked again, ever more seldom, and for hours`() {
        var (queue, now) = (UploadQueue(), Self.start)
        _ = queue.add(Self.item(1))
        var delays: [Duration] = []
        while delays.count < 10 {
            let item = queue.due(at: now)
            #expect(item.count == 1)
            #expect(queue.finished(Self.item(1), .failed(.transient("503")), at: now) == [])
            #expect(queue.due(at: now).isEmpty)
            let next = queue.nextAttempt ?? now
            delays.append(next - now)
            now = next
        }
        #expect(delays == [1, 2, 4, 8, 16, 32, 60, 60, 60, 60].map { .seconds($0) })
        now = Self.start + UploadQueue.patience
        _ = queue.due(at: now)
        #expect(queue.finished(Self.item(1), .failed(.transient("503")), at: now) == [.failed(1, "503")])
        #expect(queue.count == 0)
    }

    @Test func `what is refused ends its lane, and no other`() {
        var queue = UploadQueue()
        for item in [Self.item(1), Self.item(2), Self.item(3, lane: "z")] { _ = queue.add(item) }
        _ = queue.due(at: Self.start)
        let endings = queue.finished(Self.item(1), .failed(.final("403")), at: Self.start)
        #expect(endings == [.failed(1, "403"), .failed(2, "403")])
        #expect(queue.count == 1 && queue.inFlight == 1)
        #expect(queue.add(Self.item(4)) == [], "a lane may begin anew")
        #expect(queue.due(at: Self.start).map(\.id) == [4])
    }

    @Test func `a bucket that is back is asked for all that waits there`() {
        var queue = UploadQueue()
        let lanes = ["a", "c", "d"]
        for (index, lane) in lanes.enumerated() {
            _ = queue.add(Self.item(UInt64(index), lane: lane, bucket: lane == "d" ? "x" : "b"))
        }
        for item in queue.due(at: Self.start) { _ = queue.finished(item, .failed(.transient("")), at: Self.start) }
        let first = Self.start + .seconds(1)
        let due = queue.due(at: first)
        #expect(due.count == 3)
        for item in due where item.lane != "a" { _ = queue.finished(item, .failed(.transient("")), at: first) }
        _ = queue.finished(due[0], .stored, at: first)
        #expect(queue.due(at: first).map(\.lane) == ["c"], "the other bucket is away as before")
    }

    @Test func `only so many are under way, and everybody has a turn`() {
        var queue = UploadQueue()
        let lanes = UploadQueue.maximumInFlight + 3
        for id in 0..<lanes { for part in 0..<2 { _ = queue.add(Self.item(UInt64(id * 2 + part), lane: "\(id)")) } }
        let first = queue.due(at: Self.start)
        #expect(first.count == UploadQueue.maximumInFlight && queue.nextAttempt == nil)
        for item in first { _ = queue.finished(item, .stored, at: Self.start) }
        let second = queue.due(at: Self.start)
        #expect(Set(second.prefix(3).map(\.lane)).isDisjoint(with: first.map(\.lane)))
    }

    /// However answers come, each object ends once, in its lane's order, and nothing is forgotten.
    @Test(arguments: 0..<50) func `a random walk ends every object once`(_ seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var (queue, now, endings, added) = (UploadQueue(), Self.start, [UInt64: Int](), 0 as UInt64)
        var stored: [String: [UInt64]] = [:]
        var flying: [UploadQueue.Item] = []
        func note(_ ended: [UploadQueue.Ending], _ item: UploadQueue.Item? = nil) {
            for ending in ended {
                switch ending {
                case .stored(let id):
                    endings[id, default: 0] += 1
                    if let item { stored[item.lane, default: []].append(id) }
                case .replaced(let id), .failed(let id, _): endings[id, default: 0] += 1
                }
            }
        }
        for step in 0..<2_000 {
            if step < 1_000, Bool.random(using: &random) {
                added += 1
                let isPlaylist = Int.random(in: 0..<4, using: &random) == 0
                let lane = "\(Int.random(in: 0..<30, using: &random))"
                note(queue.add(Self.item(added, lane: lane, key: isPlaylist ? "p" : nil, isReplaceable: isPlaylist)))
            }
            flying += queue.due(at: now)
            #expect(flying.count == queue.inFlight && queue.inFlight <= UploadQueue.maximumInFlight)
            if let index = flying.indices.randomElement(using: &random) {
                let item = flying.remove(at: index)
                let results: [UploadQueue.Result] = [.stored, .stored, .failed(.transient("t")), .failed(.final("f"))]
                note(queue.finished(item, results[min(3, Int.random(in: 0..<12, using: &random) / 3)], at: now), item)
            }
            now = now + .milliseconds(Int.random(in: 0...2_000, using: &random))
        }
        while queue.count > 0 {
            now = max(now, queue.nextAttempt ?? now)
            for item in flying + queue.due(at: now) { note(queue.finished(item, .stored, at: now), item) }
            flying = []
        }
        #expect(endings.count == Int(added) && endings.values.allSatisfy { $0 == 1 })
        #expect(stored.values.allSatisfy { $0 == $0.sorted() })
        #expect(queue.inFlight == 0 && queue.oldest == nil)
    }
}
