import Admission
import EventLoop
import GatewayLogging
import HTTP
import JSON
import Settings
import Wire

/// Carries out what the `DrainMachine` says. On the control loop.
final class NodeDrain {
    private var machine: DrainMachine
    private let loop: EventLoop
    private let gate: AdmissionGate
    private let workers: WorkerGroup
    private let budget = CloseBudget()
    private var turns: TimerWatch?
    private var onEnd: () -> Void = {}
    /// The process before us, as long as it has sessions: it is to end too.
    var predecessor: Predecessor?

    init(loop: EventLoop, gate: AdmissionGate, workers: WorkerGroup, settings: DrainSettings) {
        (self.loop, self.gate, self.workers) = (loop, gate, workers)
        machine = DrainMachine(settings)
    }

    func apply(_ settings: DrainSettings) { machine.settings = settings }

    /// A signal: drains, then stops the loop; a second one stops it at once.
    func terminate() { perform(machine.terminate(census, at: loop.now)) }

    func begin() { perform(machine.begin(census, at: loop.now)) }

    /// Everything is over, and the loop may stop.
    var isOver: Bool { machine.isOver }

    /// A process after us has our place: live streams go on until their end, and then so does this process.
    func outlive(onEnd: @escaping () -> Void) {
        self.onEnd = onEnd
        perform(machine.outlive(at: loop.now))
    }

    /// The process after us has died, and its place had another one: nobody reads for our sessions any more.
    func abandon() { perform(machine.abandon()) }

    /// The process after us has died: we serve as before.
    func comeBack() { perform(machine.comeBack()) }

    /// Takes publishes again. A signal's drain is not taken back.
    func cancel() { perform(machine.cancel()) }

    private var census: DrainMachine.Census {
        // Read before the live ones: a publish that goes live in between is counted twice rather than not at all.
        let starting = gate.startingPublishes
        return DrainMachine.Census(
            live: gate.livePublishes, starting: starting, predecessorLive: gate.predecessorPublishes,
            hasPredecessor: predecessor != nil)
    }

    private func perform(_ actions: [DrainMachine.Action]) {
        for action in actions { perform(action) }
    }

    private func perform(_ action: DrainMachine.Action) {
        switch action {
        case .showLeaving: gate.isLeaving = true
        case .showServing: gate.isLeaving = false
        case .refusePublishes: gate.setClosed(true, because: .draining)
        case .takePublishes: gate.setClosed(false, because: .draining)
        case .requestReconnect: workers.tell(.requestReconnect)
        case .close(let count):
            budget.allow(count)
            workers.tell(.close(budget))
        case .terminatePredecessor: predecessor?.terminate()
        case .startTurns:
            turns = loop.schedule(after: Self.interval, repeating: Self.interval) { [unowned self] in
                perform(machine.turn(census, at: loop.now))
            }
        case .stopTurns: turns = nil
        case .tellSuccessor: onEnd()
        case .stop: loop.stop()
        case .log(let event): log(event)
        }
    }

    private func log(_ event: DrainMachine.Event) {
        let live = LogValue.integer(gate.livePublishes)
        switch event {
        case .started(let endsProcess):
            Log.event(.info, "drain_started", ["live": live, "ends_process": .bool(endsProcess)])
        case .cancelled: Log.event(.info, "drain_cancelled")
        case .finished: Log.event(.info, "drained", ["left_behind": live])
        case .cutShort: Log.event(.warning, "drain_cut_short", ["live": live])
        case .abandoned: Log.event(.error, "abandoned", ["live": live])
        }
    }

    private static let interval: Duration = .milliseconds(100)
}

/// What `/v1/drain` is asked.
enum DrainOrder {
    case begin, cancel, show
}

extension NodeDrain {
    /// `serving`, or how far the drain is.
    var phase: String { machine.phase.map { "\($0)" } ?? "serving" }

    func answer(_ order: DrainOrder) -> HTTPResponse {
        switch order {
        case .begin: begin()
        case .cancel: cancel()
        case .show: break
        }
        return HTTPResponse(
            .ok, json: ["phase": .string(phase), "live": .integer(Int64(gate.livePublishes))],
            headers: ["Cache-Control": "no-store"])
    }
}
