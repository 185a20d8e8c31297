import CLibevent

/// What a descriptor is watched for.
public enum Readiness: Sendable { case read, write }

/// What is served first when several things are ready. Media never waits for handshakes and requests.
public enum EventPriority: CInt, Sendable {
    case media = 0
    case normal = 1

    static let count: CInt = 2
}

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

/// A watch on a descriptor, which can be suspended and resumed without being made anew.
@safe
public final class DescriptorWatch: Watch {
    private var event: OpaquePointer?
    private let priority: EventPriority
    private var courtesy = MediaCourtesy()
    /// Whether it rests until `resume()`.
    public private(set) var isSuspended = false
    /// Whether what arrives comes at its own pace, and so may gather while the loop rests (`EventLoop.longestRest`).
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
            { _, _, watch in
                guard let watch = unsafe watch else { return }
                unsafe Unmanaged<DescriptorWatch>.fromOpaque(watch).takeUnretainedValue().fire()
            },
            Unmanaged.passUnretained(self).toOpaque())
        unsafe event_priority_set(event, priority.rawValue)
        unsafe event_add(event, nil)
    }

    deinit { free() }

    /// The descriptor may be closed from here on.
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

    /// Calls the body again from now on.
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

/// A watch on a signal of the process.
@safe
final class SignalWatch: Watch {
    private var event: OpaquePointer?

    init(loop: EventLoop, number: Int32, _ body: @escaping () -> Void) {
        super.init(loop: loop, body)
        unsafe event = event_new(
            loop.base, number, Int16(EV_SIGNAL) | Int16(EV_PERSIST),
            { _, _, watch in
                guard let watch = unsafe watch else { return }
                unsafe Unmanaged<SignalWatch>.fromOpaque(watch).takeUnretainedValue().fire()
            },
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

/// Lets normal events have their turn: every so many runs a media event queues behind them.
///
/// libevent serves the first priority that has anything to do, and then polls again. A socket that is always readable, or a
/// timer that is always due, would starve requests, mailboxes and signals for good.
struct MediaCourtesy {
    private static let runsBetween = 16
    private var runs = 0

    /// Called inside the event's callback, when it is in no queue.
    mutating func next(for event: OpaquePointer?) {
        runs += 1
        if runs == Self.runsBetween {
            unsafe event_priority_set(event, EventPriority.normal.rawValue)
        } else if runs > Self.runsBetween {
            unsafe event_priority_set(event, EventPriority.media.rawValue)
            runs = 0
        }
    }
}
