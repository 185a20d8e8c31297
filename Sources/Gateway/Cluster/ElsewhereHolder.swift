import Admission
import Synchronization
import Wire

/// A live publish of another node, as a claim sees it that waits for it (docs/design.md 7.3). For any thread.
///
/// Its node is asked for news as long as this object lives.
final class ElsewhereHolder: LeaseHolder {
    private let progress: Atomic<Int64>
    private let isOver = Atomic<Bool>(false)
    private let onEnd: @Sendable (LeaseEnd) -> Void
    private let onForgotten: @Sendable () -> Void

    /// - Parameter onEnd: called on any thread; it passes the word on and returns at once.
    /// - Parameter onForgotten: nobody looks at it any more.
    init(
        progress: MonotonicTime, onEnd: @escaping @Sendable (LeaseEnd) -> Void, onForgotten: @escaping @Sendable () -> Void
    ) {
        self.progress = Atomic(progress.nanoseconds)
        (self.onEnd, self.onForgotten) = (onEnd, onForgotten)
    }

    deinit { onForgotten() }

    var lastProgress: MonotonicTime { MonotonicTime(nanoseconds: progress.load(ordering: .relaxed)) }
    var hasEnded: Bool { isOver.load(ordering: .acquiring) }

    func progressed(at time: MonotonicTime) { progress.store(time.nanoseconds, ordering: .relaxed) }
    func ended() { isOver.store(true, ordering: .releasing) }

    func end(_ reason: LeaseEnd) { onEnd(reason) }
}
