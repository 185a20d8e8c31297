import CShim
import EventLoop
import Glibc
import Wire

/// Writes events to a descriptor on a thread of its own, so that a slow terminal or a full pipe never holds a loop.
///
/// What waits is bounded; beyond it events are dropped and counted, and the next line written says how many.
final class LogWriter: Sendable {
    /// Some 10 MB at worst.
    static let maximumQueuedRecords = 8192
    /// Whoever closes waits no longer for a descriptor that has taken nothing for so long.
    static let patience = Duration.seconds(2)

    private struct Queue {
        var records: [LogRecord] = []
        var droppedCount = 0
        var strangers = StrangerLines()
        var isClosed = false
    }

    private let queue: Lock<Queue>
    private let signal: CInt
    private let thread: WorkerThread
    private let totalDropped: Lock<Int>

    /// - Parameter descriptor: stays open, and belongs to the caller.
    init(descriptor: CInt, format: LogFormat, patience: Duration = patience) throws(SystemError) {
        let signal = shim_eventfd()
        guard signal >= 0 else { throw SystemError(call: "eventfd") }
        let queue = Lock(Queue())
        let totalDropped = Lock(0)
        (self.queue, self.signal, self.totalDropped) = (queue, signal, totalDropped)
        do {
            thread = try WorkerThread.start(name: "log") {
                var output = LineOutput(to: descriptor, patience: patience)
                while true {
                    Self.wait(signal, until: queue.withLock { $0.strangers.nextSum })
                    if queue.withLock({ !$0.isClosed }) { Self.gather() }
                    let taken = queue.withLock { Self.take(from: &$0) }
                    let refused = output.write(Self.lines(of: taken, format)) { queue.withLock { $0.isClosed } }
                    if let refused, refused > 0 {
                        // The last line told of those before, and is no event.
                        let events = taken.droppedCount > 0 ? refused - 1 : refused
                        queue.withLock { $0.droppedCount += taken.droppedCount + events }
                        totalDropped.withLock { $0 += events }
                    }
                    if taken.isClosed || refused == nil { return }
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

    /// Events that found the queue full, or a descriptor that took nothing, as on a full disk.
    var droppedCount: Int { totalDropped.withLock { $0 } }

    /// Whether an event that a stranger caused is to be written now; if not, it is counted, and a later line gives the count.
    func admitsStranger(_ event: String, at now: MonotonicTime) -> Bool {
        let (isAdmitted, beginsSum) = queue.withLock { queue in
            let hadSum = queue.strangers.nextSum != nil
            let isAdmitted = queue.strangers.admits(event, at: now)
            return (isAdmitted, !isAdmitted && !hadSum)
        }
        // The thread waits for the sum's time from now on.
        if beginsSum { shim_eventfd_signal(signal) }
        return isAdmitted
    }

    /// Queues one event; never waits for the descriptor.
    func write(_ record: LogRecord) {
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

    /// Writes what waits, as far as the descriptor takes it, and ends the thread. Later events are dropped.
    func close() {
        queue.withLock { $0.isClosed = true }
        shim_eventfd_signal(signal)
        thread.join()
    }

    /// Everything to be written now; the sums of strangers' lines when their second is over, or nothing comes any more.
    private static func take(from queue: inout Queue) -> Queue {
        let now = EventLoop.monotonicNow()
        var taken = queue
        (queue.records, queue.droppedCount) = ([], 0)
        for sum in queue.strangers.takeSums(at: queue.isClosed ? now + .seconds(1) : now) {
            taken.records.append(
                LogRecord(
                    time: EventLoop.wallNow(), level: .warning, event: "lines_left_out",
                    fields: ["of": .string(sum.event), "count": .integer(sum.count)]))
        }
        return taken
    }

    private static func wait(_ signal: CInt, until moment: MonotonicTime?) {
        var entry = pollfd(fd: signal, events: Int16(POLLIN), revents: 0)
        repeat {
            let rest = moment.map { CInt(clamping: max(0, ($0 - EventLoop.monotonicNow()).milliseconds) + 1) } ?? -1
            if unsafe poll(&entry, 1, rest) >= 0 { break }
        } while errno == EINTR
        shim_eventfd_clear(signal)
    }

    /// Events come in groups: those that follow within 10 ms share one wake-up and one write.
    private static func gather() {
        var time = timespec(tv_sec: 0, tv_nsec: 10_000_000)
        unsafe nanosleep(&time, nil)
    }

    private static func lines(of queue: Queue, _ format: LogFormat) -> [UInt8] {
        var lines: [UInt8] = []
        for record in queue.records { format.write(record, into: &lines) }
        if queue.droppedCount > 0 {
            let record = LogRecord(
                time: EventLoop.wallNow(), level: .warning, event: "log_events_dropped",
                fields: ["count": .integer(queue.droppedCount)])
            format.write(record, into: &lines)
        }
        return lines
    }
}
