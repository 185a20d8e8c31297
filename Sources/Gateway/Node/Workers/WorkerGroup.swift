import EventLoop
import Foundation
import Sockets

/// The node's workers, as the control loop sees them.
final class WorkerGroup: NodeService {
    let count: Int
    private let loop: EventLoop
    private var threads: [WorkerThread] = []
    private var orders: [Int: MailboxSender<WorkerOrder>] = [:]
    private var failure: String?
    private var mailbox: Mailbox<News>?

    private enum News: Sendable {
        case ready(Int, MailboxSender<WorkerOrder>)
        case failed(String)
    }

    init(loop: EventLoop, count: Int) throws(SystemError) {
        (self.loop, self.count) = (loop, count)
        mailbox = try Mailbox(loop: loop) { [unowned self] in receive($0) }
    }

    /// Starts every worker and waits until all of them serve.
    /// - Parameter areSuspended: whether they leave all sockets to another process until `.resume`.
    func start(_ listeners: Listeners, _ environment: WorkerEnvironment, areSuspended: Bool = false) throws {
        guard let news = mailbox?.sender else { return }
        for index in 0..<count {
            let sockets = WorkerSockets(index: index, listeners)
            let thread = try WorkerThread.start(name: "worker-\(index)") {
                do {
                    let worker = try Worker(sockets, environment, isSuspended: areSuspended)
                    guard let sender = worker.sender else { return }
                    news.send(.ready(index, sender))
                    worker.run()
                } catch {
                    news.send(.failed(String(describing: error)))
                }
            }
            threads.append(thread)
        }
        let isReady = loop.run(until: { [unowned self] in failure != nil || orders.count == count }, within: .seconds(30))
        guard failure == nil, isReady else {
            stop()
            throw StartupError.worker(failure ?? "not ready within 30 s")
        }
    }

    func tell(_ order: WorkerOrder) {
        for sender in orders.values { sender.send(order) }
    }

    func tell(_ order: WorkerOrder, worker: Int) { _ = orders[worker]?.send(order) }

    /// Ends all sessions and waits for the threads.
    func stop() {
        tell(.stop)
        // A worker that did not become ready hears no order, and is not waited for.
        for (index, thread) in threads.enumerated() where orders[index] != nil { thread.join() }
    }

    private func receive(_ news: News) {
        switch news {
        case .ready(let index, let sender): orders[index] = sender
        case .failed(let reason): failure = reason
        }
    }
}
