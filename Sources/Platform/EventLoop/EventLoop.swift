import CLibevent
import CShim
import Glibc
public import Wire

/// One thread's event loop: descriptors, signals and timers on one libevent base. Sole owner of libevent.
///
/// Confined: built, run and used on one thread, which is why neither it nor what it calls is Sendable. Other threads reach it
/// through a `Mailbox`. A *turn* is what happens between two waits; `now` stands still in it, but for a look at the clock
/// before timers.
///
///     let worker = try WorkerThread.start(name: "worker") {
///         guard let loop = try? EventLoop() else { return }
///         let tick = loop.schedule(after: .seconds(1), repeating: .seconds(1)) { print(loop.now) }
///         loop.run()  // until somebody calls `loop.stop()` on this thread
///         tick.cancel()
///     }
@safe
public final class EventLoop {
    let base: OpaquePointer
    /// The moment this turn began. Monotonic; never civil time.
    public var now: MonotonicTime { turnMoment }
    /// Not `now` itself: accesses to a public stored property are checked for being exclusive, here and in every other module.
    private var turnMoment: MonotonicTime
    /// For other threads, which may see by it that the loop is stuck.
    public let pulse = LoopPulse()
    /// What the loop has done since `takeStatistics`.
    public var statistics: LoopStatistics { counted }
    private var counted = LoopStatistics()

    /// How long it may rest between turns while media wakes it very often: so much latency at most, for a third of the cost
    /// (`WakeModeration`); up to 4 ms make sense. Zero: never.
    public var longestRest: Duration {
        get { moderation.longestRest }
        set { moderation = WakeModeration(longestRest: newValue) }
    }
    private var moderation = WakeModeration(longestRest: .zero)
    /// Somebody left something unread in this turn.
    private var isBehind = false
    /// Descriptors of media that were ready in this turn.
    private var mediaWakeUps = MediaWakeUps()
    /// Told of every turn's CPU time.
    private var turnObserver: ((Duration) -> Void)?

    /// Called at the end of every turn.
    private var turnEndings: [() -> Void] = []
    /// What is served now is part of a turn, which will end: false at start-up and in tests that run no loop.
    public var isInTurn: Bool { isServing }

    /// One object per type; see `resource`.
    private var resources: [ObjectIdentifier: AnyObject] = [:]
    private var turnStart = MonotonicTime.zero
    /// The thread's CPU time at the end of the last turn. The wait that follows is counted to the next turn: it is next to none.
    private var cpuAtTurnEnd = Duration.zero
    private var owner = pthread_self()
    private var isServing = false
    private var isStopped = false
    private var timers = TimerQueue()
    private var alarm = TimerAlarm()
    private let timerDescriptor: CInt
    private var timerEvent: OpaquePointer?
    private var timerCourtesy = MediaCourtesy()

    /// - Throws: when the kernel gives no more descriptors.
    public init() throws(SystemError) {
        _ = Self.isPipeSignalIgnored
        // Without libevent's locks: threads only ever touch the eventfd of a mailbox.
        guard let configuration = unsafe event_config_new() else { throw SystemError(call: "event_config_new") }
        defer { unsafe event_config_free(configuration) }
        unsafe event_config_set_flag(configuration, CInt(EVENT_BASE_FLAG_NOLOCK.rawValue))
        guard let base = unsafe event_base_new_with_config(configuration) else { throw SystemError(call: "event_base_new") }
        unsafe event_base_priority_init(base, EventPriority.count)
        unsafe self.base = base
        turnMoment = Self.monotonicNow()
        timerDescriptor = shim_timerfd()
        let timerEvent = unsafe event_new(
            base, timerDescriptor, Int16(EV_READ) | Int16(EV_PERSIST),
            { _, _, loop in
                guard let loop = unsafe loop else { return }
                unsafe Unmanaged<EventLoop>.fromOpaque(loop).takeUnretainedValue().timerDescriptorFired()
            }, Unmanaged.passUnretained(self).toOpaque())
        guard timerDescriptor >= 0, let timerEvent = unsafe timerEvent else { throw SystemError(call: "timerfd_create") }
        unsafe self.timerEvent = timerEvent
        unsafe event_priority_set(timerEvent, EventPriority.media.rawValue)
        unsafe event_add(timerEvent, nil)
    }

    deinit {
        if let timerEvent = unsafe timerEvent { unsafe event_free(timerEvent) }
        close(timerDescriptor)
        unsafe event_base_free(base)
    }

    /// Serves events until `stop()`.
    public func run() {
        while !isStopped { turn() }
        isStopped = false
    }

    /// Serves events until `isDone`, asked after every turn, or until the limit; returns what `isDone` says at the end. What another
    /// thread brings about has to come with an event, as by a `Mailbox`, or nobody asks.
    public func run(until isDone: () -> Bool, within limit: Duration) -> Bool {
        let deadline = schedule(after: limit) { [unowned self] in stop() }
        defer { deadline.cancel() }
        while !isStopped, !isDone() { turn() }
        isStopped = false
        return isDone()
    }

    /// A descriptor of this turn is ready and will be served.
    /// - Parameter isShared: whether several streams come through it.
    func descriptorIsReady(carriesMedia: Bool, isShared: Bool) {
        enterTurn()
        if carriesMedia { mediaWakeUps.count(isShared: isShared) }
    }

    /// Call it after serving a share of what was ready: there may be more, so the loop does not rest before the next turn.
    public func leftMore() { isBehind = true }

    /// Makes `run` return at the end of this turn.
    public func stop() {
        assertOnLoop()
        isStopped = true
    }

    /// Traps when called on another thread than the loop's: such a call is a bug of ours that would corrupt memory later.
    @inline(__always)
    public func assertOnLoop() {
        precondition(pthread_equal(owner, pthread_self()) != 0, "called outside its event loop's thread")
    }

    /// Civil time, for sender reports, tokens and events.
    public static func wallNow() -> WallTime { WallTime(nanosecondsSince1970: nanoseconds(of: CLOCK_REALTIME)) }

    /// The monotonic clock itself. On a loop ask `now`, which is free and does not change under your feet.
    public static func monotonicNow() -> MonotonicTime { MonotonicTime(nanoseconds: nanoseconds(of: CLOCK_MONOTONIC)) }

    /// Wall clock less monotonic clock: whoever keeps it has a wall clock that makes no steps, and
    /// no moment between two readings.
    public static func wallOffset() -> Duration { .nanoseconds(wallNow().nanosecondsSince1970 - monotonicNow().nanoseconds) }

    /// CPU time that the calling thread has used.
    public static func threadCPU() -> Duration { .nanoseconds(shim_thread_cpu_nanoseconds()) }

    /// The statistics so far, which begin anew.
    public func takeStatistics() -> LoopStatistics {
        defer { counted = LoopStatistics() }
        return counted
    }

    /// Measures the CPU time of every turn too, which costs a system call each.
    /// - Parameter told: of each; nil ends it.
    public func measureTurnCPU(_ told: ((Duration) -> Void)?) {
        turnObserver = told
        cpuAtTurnEnd = Self.threadCPU()
    }

    private static func nanoseconds(of clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// A write to a closed connection shall be an error where it happens and not the end of the process.
    private static let isPipeSignalIgnored: Bool = {
        signal(SIGPIPE, SIG_IGN)
        return true
    }()
}

// MARK: - Turns

extension EventLoop {
    /// Waits, then serves all that is ready.
    private func turn() {
        // libevent would return at once, for ever.
        precondition(!isServing, "an event loop is run by what it runs")
        owner = pthread_self()
        if alarm.takeDue() {
            unsafe event_base_loop(base, EVLOOP_ONCE | EVLOOP_NONBLOCK)
            timersAreDue()
        } else {
            unsafe event_base_loop(base, EVLOOP_ONCE | EVLOOP_NO_EXIT_ON_EMPTY)
        }
        guard isServing else { return }
        for ending in turnEndings { ending() }
        isServing = false
        pulse.turnEnds()
        counted.record(turn: Self.monotonicNow() - turnStart)
        if let turnObserver {
            let cpu = Self.threadCPU()
            counted.record(cpu: cpu - cpuAtTurnEnd)
            turnObserver(cpu - cpuAtTurnEnd)
            cpuAtTurnEnd = cpu
        }
        if moderation.longestRest > .zero, let end = moderation.turnEnded(startedAt: turnStart, media: mediaWakeUps), !isBehind {
            rest(until: end)
        }
        (isBehind, mediaWakeUps) = (false, MediaWakeUps())
    }

    /// Sleeps through events, but not through timers.
    private func rest(until end: MonotonicTime) {
        let end = min(end, timers.firstDeadline ?? end)
        guard !alarm.isDue, end > Self.monotonicNow() else { return }
        let (seconds, nanoseconds) = end.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        var moment = timespec(tv_sec: Int(seconds), tv_nsec: Int(nanoseconds))
        unsafe clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, nil)
    }

    /// Every callback from libevent begins here: the first of a turn reads the clock.
    func enterTurn() {
        guard !isServing else { return }
        isServing = true
        turnMoment = Self.monotonicNow()
        turnStart = now
        pulse.turnBegins(at: now)
    }

    /// The turn's moment; between turns (start-up, tests) the clock's, because the cached one is old.
    func refreshedNow() -> MonotonicTime {
        if !isServing { turnMoment = Self.monotonicNow() }
        return now
    }
}

// MARK: - Timers

extension EventLoop {
    /// Calls `body` after a delay, never early, then again after each `repeating`; a late loop skips missed repetitions.
    /// Delays from 100 ms on may end up to 5 ms later, and all up to `tolerance` later, together with others: housekeeping that
    /// tolerates a second shares one wake-up a second with all of its kind, and an idle process sleeps in between.
    ///
    /// Timers live in a heap behind one timer descriptor, so that re-arming one costs no system call. libevent's own timers
    /// are not used: they follow the coarse clock, which ticks every 4 ms, and pacing needs better.
    public func schedule(
        after delay: Duration, repeating: Duration? = nil, tolerance: Duration = .zero, _ body: @escaping () -> Void
    ) -> TimerWatch {
        assertOnLoop()
        let watch = TimerWatch(loop: self, repeating: repeating, tolerance: tolerance, body)
        watch.start(at: refreshedNow() + delay)
        return watch
    }

    func insert(_ timer: TimerWatch) {
        timers.insert(timer)
        set(alarm.timerStarted(first: timers.firstDeadline, at: now))
    }

    func remove(_ timer: TimerWatch) { timers.remove(timer) }

    private func timerDescriptorFired() {
        unsafe timerCourtesy.next(for: timerEvent)
        timersAreDue()
    }

    private func timersAreDue() {
        enterTurn()
        // libevent polls several times in one turn while normal events wait behind media: without a fresh look at the clock
        // the timer that woke us might not seem due, and would wake us again at once, before all of them.
        turnMoment = Self.monotonicNow()
        alarm.servingBegins()
        while let timer = timers.popFirst(before: now) {
            counted.record(lag: now - timer.wakeUp)
            timer.fire(at: now)
        }
        set(alarm.servingEnds(first: timers.firstDeadline, at: now))
    }

    private func set(_ setting: TimerAlarm.Setting?) {
        switch setting {
        case .at(let moment): shim_timerfd_set(timerDescriptor, moment.nanoseconds + 1)
        case .off: shim_timerfd_set(timerDescriptor, 0)
        case nil: break
        }
    }
}

// MARK: - Watching

extension EventLoop {
    /// Calls `body` in every turn in which the descriptor is ready, until the watch is cancelled or dropped.
    ///
    /// The descriptor must stay open for as long as it is watched: cancel first, then close.
    public func watch(
        descriptor: CInt, for readiness: Readiness, priority: EventPriority = .normal, _ body: @escaping () -> Void
    ) -> DescriptorWatch {
        assertOnLoop()
        return DescriptorWatch(loop: self, descriptor: descriptor, readiness: readiness, priority: priority, body)
    }

    /// Calls `body` at the end of every turn, for as long as the loop lives: what was gathered in a turn goes then.
    public func atTurnEnd(_ body: @escaping () -> Void) {
        assertOnLoop()
        turnEndings.append(body)
    }

    /// Calls `body` when the process receives the signal. One loop of a process may watch signals: libevent allows no more.
    public func watchSignal(_ number: CInt, _ body: @escaping () -> Void) -> Watch {
        assertOnLoop()
        return SignalWatch(loop: self, number: number, body)
    }

    /// The loop's one object of that type, made at first use and kept with the loop: read buffers, receive batches, budgets.
    public func resource<Resource: AnyObject>(_ make: () -> Resource) -> Resource {
        let key = ObjectIdentifier(Resource.self)
        if let existing = resources[key], let resource = existing as? Resource { return resource }
        let resource = make()
        resources[key] = resource
        return resource
    }
}
