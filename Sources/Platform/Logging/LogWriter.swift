import CShim
public import EventLoop
import Glibc

/// Writes events to a descriptor on a thread of its own, so that a slow terminal or a full pipe never holds a loop.
///
/// What waits is bounded; beyond it events are dropped and counted, and the next line written says how many.
public final class LogWriter: Sendable {
    /// Some 10 MB at worst.
    public static let maximumQueuedRecords = 8192

    private struct Queue {
        var records: [LogRecord] = []
        var droppedCount = 0
        var isClosed = false
    }

    private let queue: Lock<Queue>
    private let signal: CInt
    private let thread: WorkerThread
    private let totalDropped: Lock<Int>

    /// - Parameter descriptor: stays open, and belongs to the caller.
    public init(descriptor: CInt, format: LogFormat) throws(SystemError) {
        let signal = shim_eventfd()
        guard signal >= 0 else { throw SystemError(call: "eventfd") }
        let queue = Lock(Queue())
        let totalDropped = Lock(0)
        (self.queue, self.signal, self.totalDropped) = (queue, signal, totalDropped)
        do {
            thread = try WorkerThread.start(name: "log") {
                while true {
                    Self.wait(signal)
                    if queue.withLock({ !$0.isClosed }) { Self.gather() }
                    let (records, droppedCount, isClosed) = queue.withLock { queue in
                        defer { (queue.records, queue.droppedCount) = ([], 0) }
                        return (queue.records, queue.droppedCount, queue.isClosed)
                    }
                    Self.write(records, droppedCount, format, to: descriptor)
                    if isClosed { return }
                }
            }
        } catch {
            Glibc.close(signal)
            throw error
        }
    }

    deinit {
        close()
        Glibc.close(signal)
    }

    /// Events that found the queue full.
    public var droppedCount: Int { totalDropped.withLock { $0 } }

    /// Queues one event; never waits for the descriptor.
    public func write(_ record: LogRecord) {
        let isFirst = queue.withLock { queue in
            guard !queue.isClosed, queue.records.count < Self.maximumQueuedRecords else {
                queue.droppedCount += 1
                return nil as Bool?
            }
            queue.records.append(record)
            return queue.records.count == 1
        }
        guard let isFirst else { return totalDropped.withLock { $0 += 1 } }
        if isFirst { shim_eventfd_signal(signal) }
    }

    /// Writes what waits and ends the thread. Later events are dropped.
    public func close() {
        queue.withLock { $0.isClosed = true }
        shim_eventfd_signal(signal)
        thread.join()
    }

    private static func wait(_ signal: CInt) {
        var entry = pollfd(fd: signal, events: Int16(POLLIN), revents: 0)
        while unsafe poll(&entry, 1, -1) < 0, errno == EINTR {}
        shim_eventfd_clear(signal)
    }

    /// Events come in groups: those that follow within 10 ms share one wake-up and one write.
    private static func gather() {
        var time = timespec(tv_sec: 0, tv_nsec: 10_000_000)
        unsafe nanosleep(&time, nil)
    }

    private static func write(_ records: [LogRecord], _ droppedCount: Int, _ format: LogFormat, to descriptor: CInt) {
        var lines: [UInt8] = []
        for record in records { format.write(record, into: &lines) }
        if droppedCount > 0 {
            let record = LogRecord(
                time: EventLoop.wallNow(), level: .warning, event: "log_events_dropped",
                fields: ["count": .integer(droppedCount)])
            format.write(record, into: &lines)
        }
        write(lines, to: descriptor)
    }

    /// Writes all bytes. A descriptor that takes no more has no place to complain to.
    private static func write(_ bytes: [UInt8], to descriptor: CInt) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                var entry = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                unsafe poll(&entry, 1, 1000)
            } else if errno != EINTR {
                return
            }
        }
    }
}
