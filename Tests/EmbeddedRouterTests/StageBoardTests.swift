import Admission
import EventLoop
import Refusals
import StageHub
import Testing
import Wire

@testable import EmbeddedRouter

@Suite("Stage board", .timeLimit(.minutes(10)))
struct StageBoardTests {
    let loop: EventLoop
    let board = StageBoard()

    init() throws { loop = try EventLoop() }

    static func publication(_ participant: String, stage: String = "s") -> Publication {
        var grant = PublishGrant(participantID: participant, stageARN: "arn:" + stage, stageID: stage, credentialHash: "h")
        (grant.userID, grant.attributes) = ("user of " + participant, ["role": "host"])
        return Publication(
            grant: grant, lease: PublishLease(participantID: participant, stageID: stage, stageSessionID: "st", generation: 1),
            ingestProtocol: .whip, timeline: Timeline())
    }

    /// What a watcher is told while `change` happens.
    func told(of stage: String = "s", _ change: () -> Void) throws -> [String] {
        var notices: [StageBoard.Notice] = []
        let mailbox = try Mailbox<StageBoard.Notice>(loop: loop) { notices.append($0) }
        let watcher = try #require(board.watch(stage: stage, mailbox.sender))
        change()
        board.stopWatching(stage: stage, watcher)
        // Behind all that was told, by the same way.
        let end = StageBoard.Notice(watcher: watcher, event: .left(participantID: "nobody"))
        mailbox.sender.send(end)
        #expect(loop.run(until: { notices.last == end }, within: .seconds(120)))
        _ = notices.popLast()
        #expect(notices.allSatisfy { $0.watcher == watcher })
        return notices.map { notice in
            switch notice.event {
            case .present(let participant): participant.participantID + (participant.muted.isEmpty ? "" : " muted")
            case .left(let participantID): "\(participantID) left"
            }
        }
    }

    @Test func `a watcher is told who is live, then who comes, mutes and goes, of its stage alone`() throws {
        let (first, other) = (Self.publication("first"), Self.publication("other", stage: "elsewhere"))
        board.attach(first)
        let told = try told {
            let second = Self.publication("second")
            board.attach(second)
            board.attach(other)
            second.muteChanged(.audio, isMuted: true)
            second.muteChanged(.audio, isMuted: false)
            other.end(.closed)
            first.end(.connectionLost)
        }
        #expect(told == ["first", "second", "second muted", "second", "first left"])
        #expect(board.participants(ofStage: "s").map(\.participantID) == ["second"])
        #expect(board.participants(ofStage: "elsewhere").isEmpty)
    }

    @Test func `the end of a publish that was taken over does not take its successor off`() throws {
        let (former, successor) = (Self.publication("p"), Self.publication("p"))
        board.attach(former)
        let told = try told {
            board.attach(successor)
            former.muteChanged(.video, isMuted: true)
            former.end(.takenOver)
        }
        #expect(told == ["p", "p"])
        #expect(board.participants(ofStage: "s").map(\.serial) == [2])
        successor.end(.closed)
        #expect(board.participants(ofStage: "s").isEmpty)
    }

    @Test func `watchers are bounded, and leave room when they go`() throws {
        let mailbox = try Mailbox<StageBoard.Notice>(loop: loop) { _ in }
        let watchers = (0..<StageBoard.maximumWatchers).compactMap { _ in board.watch(stage: "s", mailbox.sender) }
        #expect(watchers.count == StageBoard.maximumWatchers)
        #expect(board.watch(stage: "t", mailbox.sender) == nil)
        for _ in 0..<2 { board.stopWatching(stage: "s", watchers[0]) }
        #expect(board.watcherCount == StageBoard.maximumWatchers - 1)
        #expect(board.watch(stage: "t", mailbox.sender) != nil)
    }
}
