import CLibevent

/// A watch on a descriptor, which can be suspended and resumed without being made anew.
@safe
public final class DescriptorWatch: Watch {
    private var event: OpaquePointer?
    private let priority: EventPriority
    private var courtesy = MediaCourtesy()
    public private(set) var isSuspended = false
    /// Whether what arrives comes at its own pace, and so may gather while the loop rests (`EventLoop.moderatesWakeUps`).
    /// From the beginning for `.media`; a connection becomes so when its peer begins to publish.
    public var carriesMedia: Bool

    init(
        loop: EventLoop, descriptor: Int32, readiness: Readiness, priority: EventPriority, _ body: @escaping () -> Void
    ) {
        self.priority = priority
        carriesMedia = priority == .media
        super.init(loop: loop, body)
        let kind = Int16(readiness == .read ? EV_READ : EV_WRITE) | Int16(EV_PERSIST)
        unsafe event = event_new(
            loop.base, descriptor, kind,
            { _, _, watch in unsafe Unmanaged<DescriptorWatch>.fromOpaque(watch!).takeUnretainedValue().fire() },
            Unmanaged.passUnretained(self).toOpaque())
        unsafe event_priority_set(event, priority.rawValue)
        unsafe event_add(event, nil)
    }

    deinit { free() }

    public override func cancel() {
        super.cancel()
        free()
    }

    /// Stops calling the body until `resume()`.
    public func suspend() {
        guard isActive, !isSuspended else { return }
        isSuspended = true
        unsafe event_del(event)
    }

    public func resume() {
        guard isActive, isSuspended else { return }
        isSuspended = false
        unsafe event_add(event, nil)
    }

    private func fire() {
        loop.descriptorIsReady(carriesMedia: carriesMedia, isShared: priority == .media)
        if priority == .media { unsafe courtesy.next(for: event) }
        callBody()
    }

    private func free() {
        guard let event = unsafe event else { return }
        unsafe event_free(event)
        unsafe self.event = nil
    }
}
