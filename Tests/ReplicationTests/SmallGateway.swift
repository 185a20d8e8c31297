import Admission
import EventLoop
import Refusals
import StageHub
import Store
import TestSupport
import Testing
import Wire

@testable import Replication

/// A gateway in small: the real store and leases, one worker's replicator and the keeper, all on one loop. Publishes are fed by
/// hand. Nodes of a platform share the loop (`SmallPlatform`).
final class SmallGateway {
    let loop: EventLoop
    let store: any GatewayStore
    let leases: any LeaseControl
    let book: ReplicationBook
    /// Whose turns are turns of this one too.
    var others: [SmallGateway] = []
    private let directory: TemporaryDirectory
    private var replicator: Replicator?
    private var keeper: ReplicationKeeper?
    private(set) var publishes: [Publish] = []
    /// Replicas that have their sinks now.
    private(set) var replicas: [ReplicaSink] = []

    /// One live publish of its own.
    final class Publish {
        let publication: Publication
        let holder: TestHolder
        var isOver = false

        init(_ publication: Publication, _ holder: TestHolder) { (self.publication, self.holder) = (publication, holder) }
    }

    convenience init(stages: [String], lingering: Duration = .milliseconds(300)) throws {
        try self.init(loop: EventLoop(), lingering: lingering) { directory, observers in
            var told = EmbeddedStore.Observers()
            told.onChange = observers.tell
            let store = try EmbeddedStore(directory: directory, observers: told)
            return (store, EmbeddedLeases(store: store))
        }
        for stage in stages { makeStage(stage) }
    }

    init(
        loop: EventLoop, lingering: Duration = .milliseconds(300),
        open: (_ directory: String, _ observers: StateObservers) throws -> (any GatewayStore, any LeaseControl)
    ) throws {
        self.loop = loop
        directory = try TemporaryDirectory()
        let observers = StateObservers()
        (store, leases) = try open(directory.path, observers)
        book = ReplicationBook(store: store, leases: leases)
        observers.add(book.stateChanged)
        var timing = ReplicationTiming()
        (timing.lingering, timing.suspicion) = (lingering, .milliseconds(100))
        replicator = try Replicator(loop: loop, book: book, timing: timing) { [unowned self] in attached($0) }
        keeper = try ReplicationKeeper(loop: loop, book: book, interval: .milliseconds(50))
    }

    static func arn(_ stage: String) -> String { ResourceName().arn(.stage, stage) }

    static func key(_ participant: String, _ source: String, _ destination: String) -> Replication.Key {
        Replication.Key(participant, from: arn(source), to: arn(destination))
    }

    // MARK: - The control API's part

    @discardableResult
    func write<Value: Sendable>(_ body: @escaping @Sendable (inout StateTransaction) throws -> Value) -> Value? {
        let answer = Lock<Result<Value, any Error>?>(nil)
        store.write(body) { result in answer.withLock { $0 = result } }
        until("the store has written") { answer.withLock { $0 != nil } }
        return try? answer.withLock { $0 }?.get()
    }

    func makeStage(_ id: String) {
        let stage = Stage(arn: Self.arn(id), createdAt: EventLoop.wallNow())
        write { $0.put(stage) }
    }

    /// As StartParticipantReplication writes it; what comes of it is not waited for.
    func start(_ key: Replication.Key, window: Int, attributes: [String: String] = [:]) {
        let new = Replication(
            key, number: Identifier.random(12), attributes: attributes, reconnectWindow: window, startedAt: EventLoop.wallNow())
        write { transaction in
            let state = transaction.state
            guard state.stages[key.sourceStageARN] != nil, state.stages[key.destinationStageARN] != nil,
                state.replications[key]?.isRunning != true, state.runningReplication(to: key.source) == nil
            else { return }
            transaction.put(new)
        }
    }

    func stop(where isMeant: @escaping @Sendable (Replication.Key) -> Bool) {
        tell(write { $0.stopReplications(where: isMeant) } ?? [])
    }

    func deleteStage(_ id: String) {
        let arn = Self.arn(id)
        let stopped = write { transaction in
            let stopped = transaction.stopReplications { $0.sourceStageARN == arn || $0.destinationStageARN == arn }
            transaction.removeStage(arn)
            return stopped
        }
        tell(stopped ?? [])
        leases.endAll(ofStage: arn, Refusal(.stageDeleted))
    }

    private func tell(_ stopped: [Replication]) {
        store.recordStopped(stopped, at: EventLoop.wallNow())
        leases.endRevoked()
    }

    func record(_ key: Replication.Key) -> Replication? { store.state.replications[key] }

    // MARK: - Encoders

    /// - Parameter takeOver: whoever publishes as that participant is displaced.
    @discardableResult
    func publish(_ participant: String, on stage: String, takeOver: Bool = false) -> Publish? {
        let holder = TestHolder()
        let grant = PublishGrant(
            participantID: participant, stageARN: Self.arn(stage), stageID: stage, attributes: ["name": participant],
            credentialHash: participant)
        var answer = claim(grant, holder, takeOver: false)
        if takeOver, case .held = answer { answer = claim(grant, holder, takeOver: true) }
        guard case .granted(let lease)? = answer else { return nil }
        endWhoShall()
        let publication = Publication(grant: grant, lease: lease, ingestProtocol: .whip, timeline: Timeline())
        publication.setFormat(.opus(isStereo: true), of: .audio)
        let publish = Publish(publication, holder)
        publishes.append(publish)
        replicator?.publishBegan(publication)
        leases.publishStarted(lease)
        publication.started()
        return publish
    }

    private func claim(_ grant: PublishGrant, _ holder: TestHolder, takeOver: Bool) -> ClaimAnswer? {
        let answer = Lock<ClaimAnswer?>(nil)
        leases.claimPublish(grant, protocol: .whip, holder: holder, takeOver: takeOver) { new in answer.withLock { $0 = new } }
        until("the claim is answered") { answer.withLock { $0 != nil } }
        return answer.withLock { $0 }
    }

    func end(_ publish: Publish, _ reason: SessionEnd = .connectionLost) {
        guard !publish.isOver else { return }
        publish.isOver = true
        publishes.removeAll { $0 === publish }
        publish.publication.end(reason)
        leases.release(publish.publication.lease)
    }

    /// Those whose leases were taken away end, as their workers would end them.
    func endWhoShall() {
        for publish in publishes {
            if let reason = publish.holder.ended { end(publish, reason.sessionEnd) }
        }
    }

    private func attached(_ publication: Publication) {
        let sink = ReplicaSink(publication.grant) { [unowned self] ended in replicas.removeAll { $0 === ended } }
        replicas.append(sink)
        publication.add(sink)
    }

    // MARK: - Time

    func turn(_ time: Duration = .milliseconds(2)) {
        _ = loop.run(until: { false }, within: time)
        endWhoShall()
        for other in others { other.endWhoShall() }
    }

    func until(
        _ what: Comment, within limit: Duration = .seconds(60), sourceLocation: SourceLocation = #_sourceLocation,
        _ condition: () -> Bool
    ) {
        let deadline = EventLoop.monotonicNow() + limit
        while !condition() {
            guard EventLoop.monotonicNow() < deadline else {
                Issue.record(what, sourceLocation: sourceLocation)
                return
            }
            turn()
        }
    }

    func live(_ participants: [StageParticipant]) -> Set<StageParticipant> {
        let found = Lock<Set<StageParticipant>?>(nil)
        leases.live(among: Set(participants)) { result in found.withLock { $0 = (try? result.get()) ?? [] } }
        until("the leases are read") { found.withLock { $0 != nil } }
        return found.withLock { $0 } ?? []
    }

    /// All that the history tells, oldest first.
    func events() -> [ParticipantEvent] {
        var all: [ParticipantEvent] = []
        while true {
            let page = events(after: all.last?.sequence ?? 0)
            if page.isEmpty { return all }
            all += page
        }
    }

    private func events(after sequence: Int64) -> [ParticipantEvent] {
        let found = Lock<[ParticipantEvent]?>(nil)
        store.read {
            try $0.events(after: sequence, limit: 1_000)
        } reply: { result in
            found.withLock { $0 = (try? result.get()) ?? [] }
        }
        until("the history is read") { found.withLock { $0 != nil } }
        return found.withLock { $0 } ?? []
    }

    func participant(_ id: String, _ stage: String, _ session: String) -> Participant? {
        let found = Lock<Participant??>(nil)
        store.read {
            try $0.participant(.init(id, ofStage: Self.arn(stage), sessionID: session))
        } reply: { result in
            found.withLock { $0 = .some((try? result.get()) ?? nil) }
        }
        until("the participant is read") { found.withLock { $0 != nil } }
        return found.withLock { $0 } ?? nil
    }
}

final class TestHolder: LeaseHolder {
    private let end = Lock<LeaseEnd?>(nil)
    var lastProgress: MonotonicTime { .zero }
    var hasEnded: Bool { ended != nil }
    var ended: LeaseEnd? { end.withLock { $0 } }
    func end(_ reason: LeaseEnd) { end.withLock { $0 = reason } }
}

/// Stands for everything that a replica is connected with.
final class ReplicaSink: MediaSink {
    let grant: PublishGrant
    private(set) var packets = 0
    private(set) var formats: Set<TrackID> = []
    private(set) var muted: Set<TrackID> = []
    private(set) var hasStarted = false
    private let onEnd: (ReplicaSink) -> Void

    init(_ grant: PublishGrant, _ onEnd: @escaping (ReplicaSink) -> Void) { (self.grant, self.onEnd) = (grant, onEnd) }

    func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun) { self.packets += packets.count }
    func formatChanged(_ track: TrackID, to format: TrackFormat) { formats.insert(track) }
    func muteChanged(_ track: TrackID, isMuted: Bool) { if isMuted { muted.insert(track) } else { muted.remove(track) } }
    func restarted() {}
    func publishStarted() { hasStarted = true }
    func ended(_ reason: SessionEnd) { onEnd(self) }
}
