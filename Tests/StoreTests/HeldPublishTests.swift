import Admission
import Testing
import Wire

@testable import Store

@Suite("What the history is told of a publish")
struct HeldPublishTests {
    private static let start = WallTime(secondsSince1970: 1_800_000_000)
    private static let lease = PublishLease(participantID: "p", stageID: "one", stageSessionID: "st-1", generation: 5)
    private static let grant = PublishGrant(participantID: "p", stageARN: "arn:stage/one", stageID: "one", credentialHash: "h")

    private final class Holder: LeaseHolder {
        var lastProgress: MonotonicTime { .zero }
        var hasEnded: Bool { false }
        func end(_ reason: LeaseEnd) {}
    }

    private func publish() -> HeldPublish {
        HeldPublish(Self.lease, Self.grant, .whip, holder: Holder(), joinedAt: Self.start)
    }

    /// Names of events, `+` and `-` for a participant that is connected and one that is not, with the generation.
    private func told(_ writes: [HistoryWrite]) -> [String] {
        writes.map { write in
            switch write {
            case .event(let event): "\(event.name.rawValue) \(event.generation)"
            case .participant(let participant): "\(participant.isConnected ? "+" : "-") \(participant.generation ?? 0)"
            case .wasTest: "forgotten"
            default: "other"
            }
        }
    }

    @Test func `a publish joins, starts, stops and leaves`() {
        var publish = publish()
        #expect(publish.ending(isWatching: false, now: Self.start).isEmpty, "nobody has heard of it")
        #expect(told(publish.announce(isWatching: false, node: nil)) == ["+ 5", "JOINED 5"])
        #expect(told(publish.start(node: nil, now: Self.start)) == ["PUBLISH_STARTED 5", "+ 5"])
        #expect(told(publish.ending(isWatching: false, now: Self.start)) == ["PUBLISH_STOPPED 5", "LEFT 5", "- 5"])
    }

    @Test func `who watches too has joined already, and stays`() {
        var publish = publish()
        #expect(told(publish.announce(isWatching: true, node: "a")) == ["+ 5"])
        guard case .participant(let participant)? = publish.start(node: "a", now: Self.start).last else {
            return #expect(Bool(false), "no participant")
        }
        #expect(participant.node == "a" && participant.published)
        #expect(told(publish.ending(isWatching: true, now: Self.start)) == ["PUBLISH_STOPPED 5"])
    }

    @Test func `warnings wait for the start, sixteen at most`() {
        var publish = publish()
        let warning = HeldPublish.Warning(rule: "frameRate", sentence: "5 frames a second")
        for _ in 0..<20 { #expect(publish.warned(warning, now: Self.start).isEmpty) }
        #expect(publish.start(node: nil, now: Self.start).count == 2 + 16)
        #expect(told(publish.warned(warning, now: Self.start)) == ["PUBLISH_WARNING 5"])
    }

    @Test func `a network test is forgotten once it has left`() {
        var publish = publish()
        _ = publish.announce(isWatching: false, node: nil)
        publish.noteTest()
        #expect(told(publish.ending(isWatching: false, now: Self.start)) == ["LEFT 5", "- 5", "forgotten"])
    }

    @Test func `who comes again does so by another generation, until another session goes on with the publish`() {
        var publish = publish()
        _ = publish.announce(isWatching: false, node: nil)
        publish.revive(generation: 7, now: Self.start)
        #expect(!publish.isAnnounced && publish.generation == 7)
        #expect(told(publish.announce(isWatching: false, node: nil)) == ["+ 7", "JOINED 7"])
        var lease = Self.lease
        lease.generation = 9
        let former = publish.holder
        #expect(publish.pass(to: Holder(), lease, Self.grant, .rtmp) === former)
        #expect(publish.isAnnounced && publish.generation == 9 && publish.holder !== former)
    }

    @Test func `a session that goes on with a publish says once what it is, by the generation that is known`() {
        var publish = publish()
        _ = publish.announce(isWatching: false, node: nil)
        _ = publish.start(node: nil, now: Self.start)
        let untaken = publish.goOn(node: nil)
        #expect(untaken.isEmpty)
        for generation in [9, 12] as [UInt64] {
            var lease = Self.lease
            lease.generation = generation
            _ = publish.pass(to: Holder(), lease, Self.grant, .rtmp)
            let (writes, again) = (publish.goOn(node: nil), publish.goOn(node: nil))
            #expect(told(writes) == ["+ 5"])
            #expect(again.isEmpty)
            guard case .participant(let participant)? = writes.first else { return #expect(Bool(false), "no participant") }
            #expect(participant.ingestProtocol == "RTMP" && participant.published)
        }
        #expect(told(publish.ending(isWatching: false, now: Self.start)) == ["PUBLISH_STOPPED 12", "LEFT 12", "- 12"])
    }

    @Test(arguments: [
        ("QUOTA_EXCEEDED", ["- 0", "JOIN_ERROR 0", "PUBLISH_ERROR 0"]), ("B_FRAME_PRESENT", ["- 0", "PUBLISH_ERROR 0"]),
    ])
    func `who is turned away has not joined, unless its media is the reason`(errorCode: String, expected: [String]) {
        let refused = RefusedPublish(
            grant: Self.grant, ingestProtocol: .whip, sessionID: "st-1", errorCode: errorCode, time: Self.start)
        #expect(told(refused.writes(isPresent: false)) == expected)
        #expect(told(refused.writes(isPresent: true)) == ["PUBLISH_ERROR 0"])
    }
}
