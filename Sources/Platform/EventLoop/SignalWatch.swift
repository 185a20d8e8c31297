import CLibevent

/// A watch on a signal of the process.
@safe
final class SignalWatch: Watch {
    private var event: OpaquePointer?

    init(loop: EventLoop, number: Int32, _ body: @escaping () -> Void) {
        super.init(loop: loop, body)
        unsafe event = event_new(
            loop.base, number, Int16(EV_SIGNAL) | Int16(EV_PERSIST),
            { _, _, watch in unsafe Unmanaged<SignalWatch>.fromOpaque(watch!).takeUnretainedValue().fire() },
            Unmanaged.passUnretained(self).toOpaque())
        unsafe event_priority_set(event, EventPriority.media.rawValue)
        unsafe event_add(event, nil)
    }

    deinit { free() }

    override func cancel() {
        super.cancel()
        free()
    }

    private func fire() {
        loop.enterTurn()
        callBody()
    }

    private func free() {
        guard let event = unsafe event else { return }
        unsafe event_free(event)
        unsafe self.event = nil
    }
}
