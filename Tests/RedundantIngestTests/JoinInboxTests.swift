import Admission
import EventLoop
import Testing

@testable import RedundantIngest

@Suite("The way to the worker that joins two encoders")
struct JoinInboxTests {
    @Test(.timeLimit(.minutes(10)))
    func `a worker whose mailbox was full is told of blocks again once it has room`() throws {
        let loop = try EventLoop()
        let inbox = JoinInbox()
        var received = 0
        let mailbox = try Mailbox<JoinMessage>(loop: loop, maximumMessages: 1) { _ in received += 1 }
        inbox.open(mailbox.sender)
        inbox.send(.ordered(ParticipantKey("both", onStage: "s"), encoder: 1))
        inbox.wake()
        #expect(loop.run(until: { received == 1 }, within: .seconds(60)))
        inbox.wake()
        #expect(loop.run(until: { received == 2 }, within: .seconds(60)))
        withExtendedLifetime(mailbox) {}
    }
}
