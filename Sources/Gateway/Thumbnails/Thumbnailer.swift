public import EventLoop
public import GatewayMetrics
import Synchronization

/// Makes JPEGs of keyframes, on a thread of its own: one of 720p takes some 20 ms. What there is no room for is left out, never
/// late.
///
///     let thumbnailer = try Thumbnailer(metrics: registry)
///     let isTaken = thumbnailer.make(unit) { jpeg in … }  // from any thread; answered on the thumbnailer's
public final class Thumbnailer: Sendable {
    enum Message: Sendable {
        case keyframe([UInt8], then: @Sendable ([UInt8]?) -> Void)
        case stop
    }

    /// Keyframes that wait: the last of them half a second, where each takes as long as one of 720p on a busy machine.
    static let maximumWaiting = 16

    private let waiting = WaitingCount(maximum: maximumWaiting)
    private let sender: MailboxSender<Message>
    private let thread: WorkerThread
    private let metrics: ThumbnailMetrics

    /// - Throws: when the system gives no more threads or descriptors.
    public init(metrics registry: MetricsRegistry) throws(SystemError) {
        let metrics = ThumbnailMetrics(registry)
        (thread, sender) = try WorkerThread.startServing(name: "thumbnails") { [waiting] () throws(SystemError) in
            let thread = try ThumbnailThread(waiting, metrics)
            return (thread.sender, thread.run)
        }
        self.metrics = metrics
    }

    /// Has a picture made of a keyframe.
    /// - Parameters:
    ///   - unit: parameter sets and slices behind start codes (H.264 Annex B).
    ///   - then: called once, on the thumbnailer's thread, if it is taken; nil when no picture comes out.
    /// - Returns: false when too many wait already.
    public func make(_ unit: [UInt8], then: @escaping @Sendable ([UInt8]?) -> Void) -> Bool {
        guard waiting.takePlace() else {
            metrics.skipped.increment()
            return false
        }
        return sender.send(.keyframe(unit, then: then))
    }

    /// Ends the thread, after what waits already.
    public func stop() {
        sender.send(.stop)
        thread.join()
    }
}

/// How many keyframes wait. From any thread.
final class WaitingCount: Sendable {
    private let maximum: Int
    private let count = Atomic<Int>(0)

    init(maximum: Int) { self.maximum = maximum }

    /// - Returns: false when there is no place.
    func takePlace() -> Bool {
        if count.wrappingAdd(1, ordering: .relaxed).newValue <= maximum { return true }
        leave()
        return false
    }

    func leave() { count.wrappingSubtract(1, ordering: .relaxed) }
}
