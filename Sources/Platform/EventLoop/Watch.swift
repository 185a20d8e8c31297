/// Something a loop watches. Dropping it, or `cancel()`, ends that; it holds its loop, so no event outlives its base.
///
/// The body may cancel or drop its own watch. What it captures is freed when the watch ends.
public class Watch {
    let loop: EventLoop
    private var body: (() -> Void)?

    init(loop: EventLoop, _ body: @escaping () -> Void) { (self.loop, self.body) = (loop, body) }

    /// Whether the body may still be called.
    public var isActive: Bool { body != nil }

    /// Ends the watch. Harmless when it has ended.
    public func cancel() {
        loop.assertOnLoop()
        body = nil
    }

    func callBody() { body?() }
}
