public import EventLoop
import Settings
import Synchronization

/// The threads that turn AAC into Opus, and Opus into AAC for recordings, apart from the workers: 20 ms of audio take about 0.1
/// ms. Used through `AudioTranscoder`.
public final class TranscodingPool: Sendable {
    enum Message: Sendable {
        case batch(FrameBatch, reply: MailboxSender<PacketBatch>)
        case stop
    }

    let senders: [MailboxSender<Message>]
    private let threads: [WorkerThread]
    private let nextStream = Atomic<UInt64>(0)
    private let dropped = Atomic<Int>(0)
    private let nextHome = Atomic<Int>(0)
    /// Open streams of each thread.
    private let loads: Lock<[Int]>

    /// - Parameter threadCount: at least 1.
    /// - Throws: when the kernel gives no more threads or descriptors.
    public init(threadCount: Int) throws(SystemError) {
        let started = try (0..<max(1, threadCount)).map { index throws(SystemError) in
            try WorkerThread.startServing(name: "transcode-\(index)") { () throws(SystemError) in
                let thread = try TranscodingThread(index: index)
                return (thread.sender, thread.run)
            }
        }
        (threads, senders) = (started.map(\.thread), started.map(\.sender))
        loads = Lock(Array(repeating: 0, count: started.count))
    }

    /// Frames that were not transcoded: a thread was half a second behind, or they came faster than they can be heard.
    public var droppedFrameCount: Int { dropped.load(ordering: .relaxed) }

    func countDropped(_ count: Int) { dropped.wrappingAdd(count, ordering: .relaxed) }

    /// Ends the threads and waits for them; streams still open go silent.
    public func stop() {
        for sender in senders { sender.send(.stop) }
        for thread in threads { thread.join() }
    }

    /// The thread that a worker's streams go to by preference: every worker has another, as long as there are enough.
    func makeHome() -> Int { nextHome.wrappingAdd(1, ordering: .relaxed).oldValue % senders.count }

    /// A number for a new stream, and its thread: `home`, or the least loaded one when that has a quarter less to do. A worker
    /// that meets one thread only wakes it, and is woken by it, half as often as two.
    func makeStream(home: Int) -> (id: UInt64, thread: Int) {
        let thread = loads.withLock { loads in
            let least = loads.indices.min { loads[$0] < loads[$1] } ?? home
            let thread = loads[home] <= loads[least] + max(Self.toleratedSurplus, loads[least] / 4) ? home : least
            loads[thread] += 1
            return thread
        }
        return (nextStream.wrappingAdd(1, ordering: .relaxed).oldValue, thread)
    }

    func streamClosed(on thread: Int) { loads.withLock { $0[thread] -= 1 } }

    private static let toleratedSurplus = 2
}

/// One transcoding thread: its loop, its mailbox, and the sessions that live on it.
final class TranscodingThread {
    private let index: Int
    private let loop: EventLoop
    private var mailbox: Mailbox<TranscodingPool.Message>?
    private var sessions: [UInt64: any TranscodingSession] = [:]

    /// How many batches may wait: far more than some tens of workers have under way.
    private static let maximumBatches = 4_096

    init(index: Int) throws(SystemError) {
        self.index = index
        loop = try EventLoop()
        mailbox = try Mailbox(loop: loop, maximumMessages: Self.maximumBatches) { [unowned self] in receive($0) }
    }

    var sender: MailboxSender<TranscodingPool.Message> {
        mailbox!.sender  // set by init and kept
    }

    func run() { loop.run() }

    private func receive(_ message: TranscodingPool.Message) {
        switch message {
        case .batch(let frames, let reply): reply.send(transcode(frames))
        case .stop: loop.stop()
        }
    }

    private func transcode(_ frames: FrameBatch) -> PacketBatch {
        var packets = PacketBatch(thread: index, eventCount: frames.events.count)
        unsafe frames.bytes.withUnsafeBytes { bytes in
            for (stream, event) in frames.events {
                switch event {
                case .open(let config, let settings):
                    sessions[stream] = AACToOpusSession(config, settings: settings)
                case .openOpus(let channelCount): sessions[stream] = OpusToAACSession(channelCount: channelCount)
                case .close: sessions[stream] = nil
                case .frame(let range, let mediaTime):
                    let frame = unsafe UnsafeRawBufferPointer(rebasing: bytes[range])
                    unsafe transcode(frame, mediaTime: mediaTime, of: stream, into: &packets)
                }
            }
        }
        return packets
    }

    /// A session that fails says so once and is gone; its further frames find none.
    private func transcode(
        _ frame: UnsafeRawBufferPointer, mediaTime: Int64, of stream: UInt64, into packets: inout PacketBatch
    ) {
        guard let session = sessions[stream] else { return }
        packets.stream = stream
        do throws(TranscodingError) {
            try unsafe session.transcode(frame, mediaTime: mediaTime, into: &packets)
        } catch {
            packets.fail(error)
            sessions[stream] = nil
        }
    }
}
