import Admission
import EventLoop
import GatewayLogging
import HTTP
import Handover
import HandoverCodec
import MediaContract
import RouterForwarding
import Store

/// Carries out what the `HandoverMachine` says: gives this process's place to a successor, and takes it back.
/// On the control loop.
final class NodeHandover {
    /// The parts of the node that it works with.
    struct Environment {
        var services: HandoverServices
        var embedded: EmbeddedContext
        var workers: WorkerGroup
        var drain: NodeDrain
        var admin: AdminSite
        var events: EventService
        var notifier: ServiceNotifier?
        /// What a successor hears of.
        var told: Successor.Environment
        var tellHolder: () -> Void
        /// The process before us, as long as it has sessions.
        var predecessor: () -> Predecessor?
        /// Why nobody can take our place now; nil when somebody can.
        var obstacle: () -> String?
    }

    /// What other threads report during a take-over.
    private enum News: Sendable {
        case storeSuspended
        case storeResumed(Result<EmbeddedStore.Recovered, StoreError>)
        case workerDone(step: Int)
        case history([HistoryWrite])
        case lease(LeaseChange)
        case refusal(HandedRefusal)
        case answered(Int, HandedResponse)
    }

    private let loop: EventLoop
    private let environment: Environment
    private var machine: HandoverMachine
    /// The input that is being dealt with, and those that it caused.
    private var inputs: [(inout HandoverMachine) -> [HandoverMachine.Action]] = []
    private var mailbox: Mailbox<News>?
    private let door: SuccessorDoor
    /// What SIGUSR2 starts.
    private let program: SuccessorProcess
    /// Just connected, until the machine says what becomes of it.
    private var newcomer: HandoverChannel?
    private var successor: Successor?
    private var alarm: TimerWatch?

    init(loop: EventLoop, directory: String, environment: Environment) throws(SystemError) {
        (self.loop, self.environment) = (loop, environment)
        machine = HandoverMachine(workers: environment.workers.count)
        (door, program) = (SuccessorDoor(loop: loop, directory: directory), SuccessorProcess(loop: loop))
        mailbox = try Mailbox(loop: loop) { [unowned self] in receive($0) }
        door.onConnection = { [unowned self] in connected($0) }
        try door.open()
    }

    /// Whether another process has our place, or is about to.
    var hasSuccessor: Bool { machine.obstacle != nil }

    /// SIGUSR2: has the program that is now on disk take our place.
    func startSuccessor() {
        if let reason = machine.obstacle ?? environment.obstacle() {
            return Log.event(.warning, "handover_refused", ["because": .string(reason)])
        }
        do throws(StartupError) {
            let process = try program.start()
            Log.event(.info, "successor_started", ["process": .integer(Int(process))])
        } catch {
            Log.event(.error, "successor_not_started", ["because": .string("\(error)")])
        }
    }

    /// A signal ends this node: whoever is about to take its place does not.
    func terminate() { put { $0.terminated() } }

    /// The loop turns no more: the successor is told what the services had to say when they ended, such as of recordings.
    func tellRest() { if machine.isSucceeded { mailbox?.deliver() } }

    /// More or fewer processes before us have sessions.
    func predecessorsChanged() { put { $0.predecessorsChanged() } }

    // MARK: - Inputs

    /// One after the other: what an action causes at once waits until the actions beside it are done.
    private func put(_ input: @escaping (inout HandoverMachine) -> [HandoverMachine.Action]) {
        inputs.append(input)
        guard inputs.count == 1 else { return }
        while let next = inputs.first {
            for action in next(&machine) { perform(action) }
            inputs.removeFirst()
        }
    }

    private func connected(_ newcomer: HandoverChannel) {
        self.newcomer = newcomer
        let obstacle = environment.obstacle()
        put { $0.connected(obstacle: obstacle) }
        self.newcomer = nil
    }

    private func receive(_ news: News) {
        switch news {
        case .storeSuspended: put { $0.storeSuspended() }
        case .storeResumed(let result): put { $0.storeResumed(result) }
        case .workerDone(let step): put { $0.workerDone(step: step) }
        case .history(let writes): successor?.send(writes)
        case .lease(.changed(let handed)): successor?.send(.lease(handed))
        case .lease(.released(let lease)): successor?.send(.released(lease))
        case .refusal(let handed): successor?.send(.refusal(handed))
        case .answered(let number, let response): successor?.send(.response(number: number, response))
        }
    }

    // MARK: - Actions

    /// One table, in the order of `HandoverMachine.Action` and without a default: nothing that the
    /// machine may say is left undone.
    private func perform(_ action: HandoverMachine.Action) {
        switch action {
        case .accept: accept()
        case .refuse(let reason): refuse(because: reason)
        case .send(let message): successor?.send(message)
        case .offer: successor?.offer()
        case .tellLiving: successor?.tellLiving()
        case .tellReservations: successor?.tellReservations()
        case .tellPlacements: successor?.tellPlacements()
        case .tellPredecessors: successor?.tellPredecessors()
        case .tellProgress: successor?.tellProgress()
        case .close: successor?.close()

        case .suspendAdministration: suspendAdministration()
        case .resumeAdministration: resumeAdministration()
        case .suspendStore: suspendStore()
        case .resumeStore: resumeStore()
        case .takeBack(let recovered): takeBack(recovered)
        case .admit(let admits): environment.services.gate.setClosed(!admits, because: .draining)
        case .suspendAccepting(let step): suspendAccepting(step)
        case .relay: relay()
        case .suspendReading(let step): suspendReading(step)
        case .resumeWorkers: environment.workers.tell(.resume)
        case .listen(let isOpen): listen(isOpen)
        case .passName(let process): environment.notifier?.passOn(to: process)
        case .takeBackName: takeBackName()
        case .tellPredecessor(let isSucceeded): environment.predecessor()?.tell(weAreSucceeded: isSucceeded)

        case .outlive: environment.drain.outlive { [unowned self] in put { $0.drained() } }
        case .comeBack: environment.drain.comeBack()
        case .terminate: environment.drain.terminate()
        case .abandon: environment.drain.abandon()

        case .end(let lease, let end): environment.embedded.leases.end(lease, end)
        case .answer(let number, let request): answer(number, request)

        case .wake(let delay): wake(after: delay)
        case .clear: clear()
        case .forgetConnection: successor = nil
        case .log(let event): log(event)
        }
    }

    // MARK: - Who takes our place

    private func accept() {
        guard let newcomer else { return }
        newcomer.onMessage = { [unowned self] message, _ in put { $0.received(message) } }
        newcomer.onClosed = { [unowned self] in
            let isDrained = environment.drain.isOver
            put { $0.closed(isDrained: isDrained) }
        }
        newcomer.onGone = { [unowned self] in put { $0.gone() } }
        successor = Successor(loop: loop, newcomer, environment.told)
    }

    private func refuse(because reason: String) {
        Log.event(.warning, "handover_refused", ["because": .string(reason)])
        if let newcomer { door.refuse(newcomer, because: reason) }
    }

    private func clear() {
        alarm = nil
        successor?.clear()
    }

    // MARK: - What of this node goes, and comes back

    private func suspendAdministration() {
        environment.admin.suspend()
        environment.events.suspend()
    }

    private func resumeAdministration() {
        environment.admin.resume()
        environment.events.resume()
    }

    private func suspendStore() {
        environment.embedded.store.suspend { [sender = mailbox?.sender] in _ = sender?.send(.storeSuspended) }
    }

    private func resumeStore() {
        let (leases, store) = (environment.embedded.leases, environment.embedded.store)
        store.resume(sparing: leases.living) { [sender = mailbox?.sender] in _ = sender?.send(.storeResumed($0)) }
    }

    private func takeBack(_ recovered: EmbeddedStore.Recovered) {
        environment.embedded.leases.takeBack(recovered)
        environment.services.contract.takeBack()
    }

    private func suspendAccepting(_ step: Int) {
        environment.workers.tell(
            .suspendAccepting { [sender = mailbox?.sender] in _ = sender?.send(.workerDone(step: step)) })
    }

    private func relay() {
        let sender = mailbox?.sender
        environment.embedded.store.relay { writes in _ = sender?.send(.history(writes)) }
        environment.embedded.leases.handOver { change in _ = sender?.send(.lease(change)) }
        environment.services.contract.handOver { handed in _ = sender?.send(.refusal(handed)) }
    }

    private func suspendReading(_ step: Int) {
        let sender = mailbox?.sender
        for (worker, link) in (successor?.takeLinks() ?? []).enumerated() {
            environment.workers.tell(.suspendReading(link) { _ = sender?.send(.workerDone(step: step)) }, worker: worker)
        }
    }

    private func listen(_ isOpen: Bool) {
        guard isOpen else { return door.close() }
        if (try? door.open()) == nil { Log.event(.error, "handover_not_offered") }
    }

    private func takeBackName() {
        environment.tellHolder()
        environment.notifier?.takeBack()
    }

    // MARK: - What else is done

    private func answer(_ number: Int, _ handed: HandedRequest) {
        guard let request = handed.request else {
            successor?.send(.response(number: number, HandedResponse(HTTPResponse(.badRequest))))
            return
        }
        let sender = mailbox?.sender
        environment.workers.tell(.answer(request) { _ = sender?.send(.answered(number, HandedResponse($0))) }, worker: 0)
    }

    private func wake(after delay: Duration?) {
        alarm = delay.map { loop.schedule(after: $0) { [unowned self] in put { $0.timePassed() } } }
    }

    private func log(_ event: HandoverMachine.Event) {
        let live = LogValue.integer(environment.services.gate.livePublishes)
        switch event {
        case .began(let process): Log.event(.info, "handover_began", ["process": .integer(Int(process))])
        case .handedOver: Log.event(.info, "handed_over", ["live": live])
        case .rolledBack: Log.event(.warning, "handover_rolled_back", ["live": live])
        case .lingers(let process):
            Log.event(
                .error, "handover_waits",
                [
                    "process": .integer(Int(process)),
                    "hint": "it has not taken this one's place and still runs: the admin listener waits for its end (kill -9)",
                ])
        case .storeNotResumed(let error): Log.event(.error, "store_not_resumed", ["because": .string("\(error)")])
        }
    }

    /// Processes with sessions before the one that serves: an old one and the new one that an even newer one, or the old program
    /// again, takes the place of. With more, every datagram of the oldest would be handed on too often.
    static let maximumPredecessors = 2
}

/// The parts of the node that both processes of a take-over keep each other informed of.
struct HandoverServices {
    let gate: AdmissionGate
    let staticRouters: [StaticRouter]
    /// Nil without stage routers that are asked.
    let placements: LocalPlacements?
    let contract: ContractContext
    let predecessorRequests: PredecessorRequests

    init(_ shared: SharedParts, placements: LocalPlacements?) {
        (gate, staticRouters, self.placements) = (shared.admission.gate, shared.staticRouters, placements)
        (contract, predecessorRequests) = (shared.contract.context, shared.predecessorRequests)
    }
}
