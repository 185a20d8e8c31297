import EventLoop
import Testing

@Suite("The way to a loop that reads feeds")
struct FeedInboxTests {
    @Test(.timeLimit(.minutes(10)))
    func `a loop whose mailbox was full is told of blocks again once it has room`() throws {
        let loop = try EventLoop()
        let inbox = FeedInbox(wakeUp: 0)
        var received: [Int] = []
        let mailbox = try Mailbox<Int>(loop: loop, maximumMessages: 1) { received.append($0) }
        inbox.open(mailbox.sender)
        inbox.send(1)
        inbox.wake()
        #expect(loop.run(until: { received == [1] }, within: .seconds(60)))
        inbox.wake()
        #expect(loop.run(until: { received == [1, 0] }, within: .seconds(60)))
        withExtendedLifetime(mailbox) {}
    }
}
