import EventLoop
import Foundation
import Store
import Wire

@testable import Events

/// A store whose events wake what the test made of it.
final class EventsBench {
    let path = NSTemporaryDirectory() + "/stagedoor-events-" + UUID().uuidString
    let loop: EventLoop
    let store: EmbeddedStore
    private(set) var onNews: () -> Void = {}
    private var mailbox: Mailbox<Void>?

    init() throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        loop = try EventLoop()
        let sender = Lock<MailboxSender<Void>?>(nil)
        var observers = EmbeddedStore.Observers()
        observers.onEvents = { _ in _ = sender.withLock { $0 }?.send(()) }
        store = try EmbeddedStore(directory: path, webhooks: ["hook"], observers: observers)
        mailbox = try Mailbox(loop: loop) { [unowned self] in onNews() }
        let made = mailbox?.sender
        sender.withLock { $0 = made }
    }

    deinit {
        store.close()
        try? FileManager.default.removeItem(atPath: path)
    }

    func whenever(_ body: @escaping () -> Void) { onNews = body }

    func record(
        _ name: ParticipantEvent.Name, of participant: String, in session: String = "st-1234567890123", code: String = ""
    ) {
        store.record([
            .event(
                ParticipantEvent(
                    name: name, time: EventLoop.wallNow(),
                    of: .init(participant, ofStage: "arn:aws:ivs:us-east-1:0:stage/s", sessionID: session), userID: "u",
                    errorCode: code))
        ])
    }

    /// Asks again every few milliseconds, for what other threads do.
    func wait(_ isDone: () -> Bool) -> Bool {
        let tick = loop.schedule(after: .milliseconds(5), repeating: .milliseconds(5)) {}
        defer { tick.cancel() }
        return loop.run(until: isDone, within: .seconds(60))
    }
}
