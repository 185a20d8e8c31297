import Admission
import EventLoop
import GatewayConfiguration
import GatewayLogging
import HTTP
import JSON
import Wire

/// Carries out a `DrainPlan`: for a signal, which ends the process, or for the API, which can take it back. On the control loop.
final class NodeDrain {
    /// Taken by the next drain.
    private var settings: DrainPlan.Settings
    /// Streams may outlive a take-over for so long.
    var outlivingLimit: Duration
    /// Sessions that are made and not live yet.
    private let pending: () -> Int
    private let loop: EventLoop
    private let gate: AdmissionGate
    private let workers: WorkerGroup
    private let budget = CloseBudget()
    private var plan: DrainPlan?
    private var turns: TimerWatch?
    private var endsProcess = false
    /// A process after us has our place; ours lives on for its sessions.
    private var isSucceeded = false
    private var onEnd: () -> Void = {}
    /// Tells the process before us that it is to go too; nil when there is none.
    var terminatePredecessor: (() -> Void)?

    init(
        loop: EventLoop, gate: AdmissionGate, workers: WorkerGroup, settings: DrainSettings, pending: @escaping () -> Int
    ) {
        (self.loop, self.gate, self.workers, self.pending) = (loop, gate, workers, pending)
        (self.settings, outlivingLimit) = (DrainPlan.Settings(settings), settings.takeOverTimeout)
    }

    func apply(_ new: DrainSettings) { (settings, outlivingLimit) = (DrainPlan.Settings(new), new.takeOverTimeout) }

    /// A signal: drains, then stops the loop; a second one stops it at once.
    func terminate() {
        guard !endsProcess else {
            Log.event(.warning, "drain_cut_short", ["live": .integer(gate.livePublishes)])
            return loop.stop()
        }
        endsProcess = true
        terminatePredecessor?()
        if isOver { return loop.stop() }
        if isSucceeded { plan = nil }
        begin()
    }

    func begin() {
        guard plan == nil else { return }
        plan = DrainPlan(settings, at: loop.now)
        gate.isLeaving = true
        Log.event(
            .info, "drain_started", ["live": .integer(gate.livePublishes), "ends_process": .bool(endsProcess)])
        turns = loop.schedule(after: Self.interval, repeating: Self.interval) { [unowned self] in turn() }
        turn()
    }

    /// Everything is over, and the loop may stop.
    var isOver: Bool { plan?.phase == .finished }

    /// A process after us has our place: live streams go on until their end, and then so does this process.
    func outlive(onEnd: @escaping () -> Void) {
        (isSucceeded, self.onEnd) = (true, onEnd)
        plan = DrainPlan(DrainPlan.Settings(outliving: settings, for: outlivingLimit), at: loop.now)
        turns = loop.schedule(after: Self.interval, repeating: Self.interval) { [unowned self] in turn() }
    }

    /// The process after us has died, and its place had another one: nobody reads for our sessions any more.
    func abandon() {
        Log.event(.error, "abandoned", ["live": .integer(gate.livePublishes)])
        loop.stop()
    }

    /// The process after us has died: we serve as before.
    func comeBack() {
        guard isSucceeded else { return }
        (isSucceeded, plan, turns) = (false, nil, nil)
    }

    /// Takes publishes again. A signal's drain is not taken back.
    func cancel() {
        guard plan != nil, !endsProcess else { return }
        (plan, turns) = (nil, nil)
        gate.isLeaving = false
        gate.set(.draining, false)
        Log.event(.info, "drain_cancelled")
    }

    private func turn() {
        // To the process before us we are the only way: while it has sessions we stay.
        let foreign = isSucceeded && terminatePredecessor != nil ? max(1, gate.foreignPublishes) : gate.foreignPublishes
        let liveCount = gate.livePublishes + foreign + (isSucceeded ? pending() : 0)
        for action in plan?.turn(liveCount: liveCount, at: loop.now) ?? [] {
            switch action {
            case .refusePublishes:
                gate.set(.draining, true)
                // Streams that outlive us are not to notice.
                if !isSucceeded || endsProcess { workers.tell(.requestReconnect) }
            case .close(let count):
                budget.allow(count)
                workers.tell(.close(budget))
            case .finish:
                turns = nil
                Log.event(.info, "drained", ["left_behind": .integer(gate.livePublishes)])
                if isSucceeded { onEnd() }
                if endsProcess || isSucceeded { loop.stop() }
            }
        }
    }

    private static let interval: Duration = .milliseconds(100)
}

/// `/v1/drain`: POST begins, DELETE takes back (as POST to `/v1/undrain` does), GET tells.
enum DrainOrder {
    case begin, cancel, tell

    init?(_ request: HTTPRequest) {
        switch (request.method, request.path) {
        case (.post, "/v1/drain"): self = .begin
        case (.delete, "/v1/drain"), (.post, "/v1/undrain"): self = .cancel
        case (.get, "/v1/drain"): self = .tell
        default: return nil
        }
    }
}

extension NodeDrain {
    /// `serving`, or how far the drain is.
    var phase: String { plan.map { "\($0.phase)" } ?? "serving" }

    func answer(_ order: DrainOrder) -> HTTPResponse {
        switch order {
        case .begin: begin()
        case .cancel: cancel()
        case .tell: break
        }
        return HTTPResponse(
            .ok, json: ["phase": .string(phase), "live": .integer(Int64(gate.livePublishes))],
            headers: ["Cache-Control": "no-store"])
    }
}

extension DrainPlan.Settings {
    init(_ settings: DrainSettings) {
        self.init(grace: settings.grace, timeout: settings.timeout, closesPerSecond: settings.closesPerSecond)
    }

    /// Those of a process whose place has been taken: it refuses at once and waits long.
    fileprivate init(outliving settings: DrainPlan.Settings, for limit: Duration) {
        self.init(grace: .zero, timeout: limit, closesPerSecond: settings.closesPerSecond)
    }
}
