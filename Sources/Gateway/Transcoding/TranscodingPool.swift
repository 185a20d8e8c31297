public import EventLoop
import Synchronization

/// The threads that turn AAC into Opus, apart from the workers: 20 ms of audio take about 0.1 ms. Used through `AudioTranscoder`.
public final class TranscodingPool: Sendable {
    enum Message: Sendable {
        case batch(FrameBatch, reply: MailboxSender<PacketBatch>)
        case stop
    }

    let senders: [MailboxSender<Message>]
    private let threads: [WorkerThread]
    private let nextStream = Atomic<UInt64>(0)

    /// - Parameter threadCount: at least 1.
    /// - Throws: when the kernel gives no more threads or descriptors.
    public init(threadCount: Int) throws(SystemError) {
        let started = try StartedThreads(count: max(1, threadCount))
        (threads, senders) = (started.threads, started.senders)
    }

    /// Ends the threads and waits for them; streams still open go silent.
    public func stop() {
        for sender in senders { sender.send(.stop) }
        for thread in threads { thread.join() }
    }

    /// A number for a new stream, and by it its thread: streams go round the threads.
    func makeStreamID() -> (id: UInt64, thread: Int) {
        let id = nextStream.wrappingAdd(1, ordering: .relaxed).oldValue
        return (id, Int(id % UInt64(senders.count)))
    }
}

/// Starts the threads and waits until each has sent its mailbox's sender.
private struct StartedThreads {
    typealias Sender = MailboxSender<TranscodingPool.Message>
    private(set) var threads: [WorkerThread] = []
    private(set) var senders: [Sender] = []

    init(count: Int) throws(SystemError) {
        let loop = try EventLoop()
        var answers: [Int: Result<Sender, SystemError>] = [:]
        let mailbox = try Mailbox<(Int, Result<Sender, SystemError>)>(loop: loop) { answers[$0.0] = $0.1 }
        let answer = mailbox.sender
        for index in 0..<count {
            threads.append(
                try WorkerThread.start(name: "transcode-\(index)") {
                    do throws(SystemError) {
                        let thread = try TranscodingThread(index: index)
                        answer.send((index, .success(thread.sender)))
                        thread.run()
                    } catch {
                        answer.send((index, .failure(error)))
                    }
                })
        }
        while answers.count < count { _ = loop.run(until: { answers.count == count }, within: .seconds(1)) }
        for index in 0..<count {
            guard let answer = answers[index] else { continue }
            senders.append(try answer.get())
        }
    }
}
