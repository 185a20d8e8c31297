public import Store

/// The predecessor's side of a take-over: gives this process's place to a successor, step by step, and takes it back when that
/// one ends too early (docs/design.md 4.6). `Succession` is the other side.
///
/// A value without clock and socket: every input returns what is to be done, in this order. Until the successor is ready nothing
/// is missing here but the store's files and the admin listener, which wait. After that our sessions go on to their end with what
/// the successor passes on.
public struct HandoverMachine: Sendable {
    private enum State {
        case alone
        /// Somebody is connected and has not said yet what it speaks.
        case asked
        /// The successor has our sockets, and opens what it can without our files.
        case offered(Int32)
        /// The store lets go of its files.
        case suspending(Int32)
        /// The files are the successor's, which starts.
        case suspended(Int32)
        /// Our workers stop accepting.
        case closing(Int32)
        /// Our leases are being told, and our workers stop reading.
        case leaving(Int32)
        case succeeded(Aftermath)
        /// The connection is over before the successor got our place, and it may still live: what it has is still its own.
        case givenUp(Int32)
        /// The same of one that serves.
        case parting
        /// The successor is gone, and the store opens its files again.
        case returning
        /// This process ends, whatever becomes of the successor.
        case ending
    }

    private struct Aftermath {
        /// The node goes away, and not only its older process.
        var isTerminating = false
        /// The successor's place has a third process: there is none for us to come back to.
        var isBypassed = false
    }

    /// A successor's start has to be over by then, certificates and databases and all.
    static let patience: Duration = .seconds(60)
    /// A process that ends closes everything within milliseconds; a loaded machine gets more.
    static let farewell: Duration = .seconds(5)
    /// The successor's last moments may hold a lock: the store is asked again.
    static let pause: Duration = .seconds(1)

    private var state = State.alone
    private var steps: WorkerSteps
    private var successorTakesPlacements = false

    /// - Parameter workers: how many there are.
    public init(workers: Int) { steps = WorkerSteps(workers: workers) }

    /// Why nobody can take our place now, as far as this machine knows; nil when somebody can.
    public var obstacle: String? {
        if case .alone = state { nil } else { "another process is taking its place" }
    }

    /// Whether another process has our place, and we live on for our sessions.
    public var isSucceeded: Bool { if case .succeeded = state { true } else { false } }

    // MARK: - What the successor does

    /// - Parameter obstacle: why nobody can take our place now, for reasons that are not ours to know.
    public mutating func connected(obstacle: String?) -> [Action] {
        if let reason = self.obstacle ?? obstacle { return [.refuse(reason)] }
        state = .asked
        return [.accept, .wake(after: Self.patience)]
    }

    public mutating func received(_ message: HandoverMessage) -> [Action] {
        switch (state, message) {
        case (.asked, .hello(HandoverMessage.version, let process, let takesPlacements)):
            (state, successorTakesPlacements) = (.offered(process), takesPlacements == true)
            return [.log(.began(process: process)), .offer]
        case (.asked, .hello): return [.send(.refused("it speaks another version of the take-over: drain this process instead"))]
        case (.offered(let process), .prepare):
            state = .suspending(process)
            return [.suspendAdministration, .suspendStore]
        case (.suspended(let process), .ready):
            state = .closing(process)
            return [.admit(false), .suspendAccepting(step: steps.begin())]
        case (.succeeded(let aftermath), _): return received(message, aftermath)
        default: return [.close]
        }
    }

    private mutating func received(_ message: HandoverMessage, _ aftermath: Aftermath) -> [Action] {
        var aftermath = aftermath
        switch message {
        case .end(let lease, let end): return [.end(lease, end)]
        case .request(let number, let request): return [.answer(number: number, request)]
        case .terminate:
            aftermath.isTerminating = true
            state = .succeeded(aftermath)
            return [.terminate]
        case .succeeded(let isSucceeded):
            aftermath.isBypassed = isSucceeded
            state = .succeeded(aftermath)
            return []
        default: return [.close]
        }
    }

    /// The connection is over. Until the successor is known to be gone, what it has is still its own.
    /// - Parameter isDrained: our last session has ended.
    public mutating func closed(isDrained: Bool) -> [Action] {
        switch state {
        case .asked, .offered:
            state = .alone
            return [.clear, .forgetConnection, .log(.rolledBack)]
        case .suspending(let process), .suspended(let process), .closing(let process), .leaving(let process):
            state = .givenUp(process)
            return [.clear, .wake(after: Self.farewell)]
        case .succeeded(let aftermath):
            state = aftermath.isTerminating || aftermath.isBypassed || isDrained ? .ending : .parting
            if aftermath.isTerminating || isDrained { return [.clear, .terminate] }
            // A successor that serves and has closed all the same keeps listeners and store: we cannot come back.
            return [.clear, aftermath.isBypassed ? .abandon : .wake(after: Self.farewell)]
        case .alone, .givenUp, .parting, .returning, .ending: return []
        }
    }

    /// The successor has ended, after `closed`: whatever it had is ours again, and was never closed here.
    public mutating func gone() -> [Action] {
        switch state {
        case .givenUp, .parting:
            state = .returning
            return [.wake(after: nil), .forgetConnection] + resume()
        default: return []
        }
    }

    // MARK: - What this node does

    public mutating func storeSuspended() -> [Action] {
        guard case .suspending(let process) = state else { return [] }
        state = .suspended(process)
        return [.tellLiving, .tellReservations, .send(.prepared)]
    }

    public mutating func storeResumed(_ result: Result<EmbeddedStore.Recovered, StoreError>) -> [Action] {
        guard case .returning = state else { return [] }
        switch result {
        case .failure(let error): return [.log(.storeNotResumed(error)), .wake(after: Self.pause)]
        case .success(let recovered):
            state = .alone
            // Said last: whoever reads it may start the next successor.
            return [
                .wake(after: nil), .takeBack(recovered), .resumeAdministration, .takeBackName, .listen(true), .log(.rolledBack),
            ]
        }
    }

    /// A worker has done what this step asks.
    public mutating func workerDone(step: Int) -> [Action] {
        guard steps.countDone(step) else { return [] }
        switch state {
        case .closing(let process): return leave(to: process)
        case .leaving(let process): return handedOver(to: process)
        default: return []
        }
    }

    /// This node is to end: nobody takes its place any more. Who has it already goes on, and is told by signals of its own.
    public func terminated() -> [Action] {
        switch state {
        case .asked, .offered, .suspending, .suspended, .closing, .leaving: [.close]
        case .alone, .succeeded, .givenUp, .parting, .returning, .ending: []
        }
    }

    /// More or fewer processes before us have sessions: the one after us counts them too.
    public func predecessorsChanged() -> [Action] { isSucceeded ? [.tellPredecessors] : [] }

    /// Our last session has ended.
    public func drained() -> [Action] { isSucceeded ? [.send(.left)] : [] }

    public mutating func timePassed() -> [Action] {
        switch state {
        case .asked, .offered, .suspending, .suspended, .closing, .leaving: return [.close]
        // It has our files, and we cannot do without them: whoever runs this node has to end it.
        case .givenUp(let process): return [.log(.lingers(process: process))]
        case .parting:
            state = .ending
            return [.abandon]
        case .returning: return resume()
        case .alone, .succeeded, .ending: return []
        }
    }

    // MARK: - Steps

    /// Nobody is accepted any more: the leases are told, then nothing is read.
    private mutating func leave(to process: Int32) -> [Action] {
        state = .leaving(process)
        return [.relay, .suspendReading(step: steps.begin())]
    }

    private mutating func handedOver(to process: Int32) -> [Action] {
        state = .succeeded(Aftermath())
        let parting: [Action] = [.wake(after: nil), .listen(false), .tellReservations]
        let placements: [Action] = successorTakesPlacements ? [.tellPlacements] : []
        return parting + placements + [
            .passName(to: process), .tellPredecessor(isSucceeded: true), .send(.yours), .tellPredecessors, .log(.handedOver),
            .outlive, .tellProgress,
        ]
    }

    /// `comeBack` follows `admit`: a drain under way has the last word.
    private func resume() -> [Action] {
        [.tellPredecessor(isSucceeded: false), .resumeStore, .admit(true), .comeBack, .resumeWorkers]
    }
}
