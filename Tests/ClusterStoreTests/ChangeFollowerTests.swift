import Redis
import Testing
import Wire

@testable import ClusterStore

@Suite("Following the stream of commits")
struct ChangeFollowerTests {
    private var follower = ChangeFollower(node: "a", position: "1-0")
    private let start = MonotonicTime.zero

    private func entry(_ id: String, _ phase: ChangeEntry.Phase, _ keys: [String], node: String = "b") -> ChangeEntry {
        ChangeEntry(id: id, node: node, commit: 5, phase: phase, keys: keys)
    }

    @Test
    mutating func `what is confirmed is read at once, and not again`() {
        #expect(follower.read([entry("2-0", .before, ["k"])], at: start).isEmpty)
        #expect(follower.read([entry("3-0", .after, ["k"])], at: start) == ["k"])
        #expect(follower.position == "3-0")
        #expect(follower.takeDue(at: start + .seconds(10)).isEmpty)
    }

    @Test
    mutating func `what was announced and never confirmed is read after two seconds, once`() {
        _ = follower.read([entry("2-0", .before, ["k", "l"])], at: start)
        #expect(follower.takeDue(at: start + .milliseconds(1_999)).isEmpty)
        #expect(follower.deadline == start + .seconds(2))
        #expect(follower.takeDue(at: start + .seconds(2)) == ["k", "l"])
        #expect(follower.takeDue(at: start + .seconds(9)).isEmpty)
    }

    /// Servers that are away, or have lost their data, are looked at as often as while nothing is to be read.
    @Test
    func `what is due and cannot be read is waited for no less`() {
        let now = start + .seconds(10)
        for (deadline, pause) in [
            (nil, StoreThread.pollInterval), (start, StoreThread.pollInterval), (now, StoreThread.pollInterval),
            (now + .milliseconds(300), .milliseconds(300)), (now + .seconds(2), StoreThread.pollInterval),
        ] {
            #expect(StoreThread.pause(until: deadline, at: now) == pause)
        }
    }

    @Test
    mutating func `one's own commits are known, but where their answer was lost`() {
        #expect(follower.read([entry("2-0", .after, ["k"], node: "a")], at: start).isEmpty)
        #expect(follower.position == "2-0")
        follower.markUncertain(["k"])
        #expect(follower.takeDue(at: start) == ["k"])
    }

    @Test
    func `an entry reads back as it was written`() {
        let entry = entry("2-0", .before, ["sd:{a}:stage", "sd:{b}:\"odd\""])
        let fields = RedisValue.array(entry.fields.map { .string($0.bytes) })
        #expect(ChangeEntry(.array([.string(Array("2-0".utf8)), fields])) == entry)
        #expect(ChangeEntry(.array([.string(Array("2-0".utf8)), .array([])])) == nil)
    }

    /// As where a stage goes with all that was revoked there.
    @Test
    func `an entry of a commit of tens of thousands of records reads back too`() {
        let entry = entry("2-0", .after, (0..<25_000).map { "sd:{stage-of-twelve}:revocation:\($0)" })
        let fields = RedisValue.array(entry.fields.map { .string($0.bytes) })
        #expect(ChangeEntry(.array([.string(Array("2-0".utf8)), fields]))?.keys.count == 25_000)
    }
}
