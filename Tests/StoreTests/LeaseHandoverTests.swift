import Admission
import EventLoop
import Refusals
import TestSupport
import Testing
import Wire

@testable import Store

private final class Holder: LeaseHolder {
    private let isOver = Lock(false)
    var lastProgress: MonotonicTime { .zero }
    var hasEnded: Bool { isOver.withLock { $0 } }
    func end(_ reason: LeaseEnd) { isOver.withLock { $0 = true } }
}

/// Two stores and tables on one directory, one after the other, as two processes have them.
@Suite("Leases and store change hands")
struct LeaseHandoverTests {
    let directory: TemporaryDirectory
    let store: EmbeddedStore
    let leases: EmbeddedLeases
    let stage = EmbeddedStoreTests.stage("one")

    init() async throws {
        directory = try TemporaryDirectory()
        store = try EmbeddedStore(directory: directory.path)
        leases = EmbeddedLeases(store: store)
        let stage = stage
        try await store.write { $0.put(stage) }
    }

    private func claim(
        _ participant: String, on leases: EmbeddedLeases, _ holder: Holder = Holder(), takeOver: Bool = false,
        by ingestProtocol: IngestProtocol = .rtmp
    ) -> ClaimAnswer {
        let answer = Lock<ClaimAnswer?>(nil)
        let grant = PublishGrant(participantID: participant, stageARN: stage.arn, stageID: stage.id, credentialHash: "h")
        leases.claimPublish(grant, protocol: ingestProtocol, holder: holder, takeOver: takeOver) { new in
            answer.withLock { $0 = new }
        }
        return answer.withLock { $0 } ?? .refused(Refusal(.internalError))
    }

    private func lease(_ participant: String, _ holder: Holder = Holder()) throws -> PublishLease {
        guard case .granted(let lease) = claim(participant, on: leases, holder) else { throw NotGranted() }
        leases.publishStarted(lease)
        return lease
    }

    private struct NotGranted: Error {}

    private func suspend() async { await withCheckedContinuation { done in store.suspend { done.resume() } } }

    private func resume() async throws -> EmbeddedStore.Recovered {
        let living = leases.living
        let result = await withCheckedContinuation { done in
            store.resume(sparing: living) { result in done.resume(returning: result) }
        }
        return try result.get()
    }

    private func names(of participant: String, in store: EmbeddedStore) async throws -> [ParticipantEvent.Name] {
        let arn = stage.arn
        return try await store.read { reader in
            try reader.sessions(ofStage: arn, after: nil, limit: 100).flatMap {
                try reader.events(of: .init(participant, ofStage: arn, sessionID: $0.sessionID), limit: 100)
            }
        }.map(\.name)
    }

    @Test func `after a lease of the greatest generation there are others`() throws {
        let grant = PublishGrant(participantID: "p", stageARN: stage.arn, stageID: stage.id, credentialHash: "h")
        let lease = PublishLease(participantID: "p", stageID: stage.id, stageSessionID: "st-1", generation: .max)
        let handed = HandedLease(
            lease: lease, grant: grant, ingestProtocol: .rtmp, joinedAt: stage.createdAt, isAnnounced: false, isPublishing: false,
            session: StageSession(stageARN: stage.arn, sessionID: "st-1", startTime: stage.createdAt), isSessionRecorded: false)
        leases.adopt(handed, holder: Holder())
        guard case .granted(let next) = claim("p", on: leases, takeOver: true) else { throw NotGranted() }
        #expect(next.generation > 0 && next.generation < .max)
    }

    /// A second process: gets everything that the first one tells.
    private func succeed(_ told: Lock<[HandedLease]>, _ released: Lock<[PublishLease]>) async throws -> (
        EmbeddedStore, EmbeddedLeases
    ) {
        await suspend()
        let next = try EmbeddedStore(directory: directory.path, sparing: leases.living)
        let table = EmbeddedLeases(store: next)
        store.relay { next.record($0) }
        leases.handOver { change in
            switch change {
            case .changed(let handed): told.withLock { $0.append(handed) }
            case .released(let lease): released.withLock { $0.append(lease) }
            }
        }
        for handed in told.withLock({ $0 }) { table.adopt(handed, holder: Holder()) }
        return (next, table)
    }

    @Test func `live publishes are live in the other process, and none is recorded as abandoned`() async throws {
        let lease = try lease("p")
        let (told, released) = (Lock<[HandedLease]>([]), Lock<[PublishLease]>([]))
        let (next, table) = try await succeed(told, released)
        #expect(told.withLock { $0 }.map(\.lease) == [lease])
        #expect(table.isHeldHere(StageParticipant("p", of: stage.arn)))
        #expect(table.activeSession(ofStage: stage.arn)?.sessionID == lease.stageSessionID)
        #expect(try await names(of: "p", in: next).contains(.left) == false)
        guard case .held = claim("p", on: table) else { return #expect(Bool(false), "held by the old process") }
        guard case .granted(let other) = claim("q", on: table) else { return #expect(Bool(false), "room for another") }
        #expect(other.stageSessionID == lease.stageSessionID && other.generation > lease.generation)
        // Its end is written once, by the process that has the files.
        leases.release(lease)
        #expect(released.withLock { $0 } == [lease])
        table.forget(lease)
        #expect(!table.isHeldHere(StageParticipant("p", of: stage.arn)))
        #expect(
            try await names(of: "p", in: next).sorted { $0.rawValue < $1.rawValue }
                == [.joined, .left, .publishStarted, .publishStopped])
    }

    @Test func `a third process learns from the second what becomes of the first one's publishes`() async throws {
        let lease = try lease("p")
        let told = Lock<[HandedLease]>([])
        let (next, table) = try await succeed(told, Lock([]))
        let changes = Lock<[String]>([])
        table.handOver { change in
            switch change {
            case .changed(let handed): changes.withLock { $0.append("\(handed.lease.participantID) \(handed.isPublishing)") }
            case .released(let lease): changes.withLock { $0.append("\(lease.participantID) released") }
            }
        }
        var changed = try #require(told.withLock { $0.first })
        changed.isPublishing = false
        table.adopt(changed, holder: Holder())
        let newer = PublishLease(
            participantID: "p", stageID: lease.stageID, stageSessionID: lease.stageSessionID, generation: lease.generation + 1)
        table.forget(newer)
        #expect(changes.withLock { $0 } == ["p true", "p false"], "one that is not held any more is not told of")
        table.forget(lease)
        table.forget(lease)
        #expect(changes.withLock { $0 } == ["p true", "p false", "p released"])
        next.close()
    }

    @Test func `who has given the table away admits nobody`() async throws {
        let (next, _) = try await succeed(Lock([]), Lock([]))
        guard case .refused(let refusal) = claim("p", on: leases) else { return #expect(Bool(false), "refused") }
        #expect(refusal.code == .draining)
        await #expect(throws: StoreError.closed) { try await store.write { $0.put(EmbeddedStoreTests.stage("two")) } }
        next.close()
    }

    @Test func `a publish that the other process took over is not given back by its former holder`() async throws {
        let old = try lease("p")
        let told = Lock<[HandedLease]>([])
        let (next, table) = try await succeed(told, Lock([]))
        table.adopt(try #require(told.withLock { $0.first }), holder: Holder())
        guard case .granted(let new) = claim("p", on: table, takeOver: true) else { return #expect(Bool(false), "taken over") }
        table.forget(old)
        #expect(table.isHeldHere(StageParticipant("p", of: stage.arn)))
        table.release(new)
        #expect(!table.isHeldHere(StageParticipant("p", of: stage.arn)))
        next.close()
    }

    @Test func `a publish that is taken over in the other process goes on in the history, with its encoder`() async throws {
        let old = try lease("p")
        let (next, table) = try await succeed(Lock([]), Lock([]))
        guard case .granted(let new) = claim("p", on: table, takeOver: true, by: .whip) else {
            return #expect(Bool(false), "taken over")
        }
        leases.end(old, .takenOver)
        leases.release(old)
        table.publishStarted(new)
        let (arn, session) = (stage.arn, new.stageSessionID)
        let participant = try await next.read { try $0.participant(.init("p", ofStage: arn, sessionID: session)) }
        #expect(participant?.ingestProtocol == "WHIP" && participant?.isConnected == true)
        #expect(try await names(of: "p", in: next).count == 2, "it joined and started, and has not left")
        next.close()
    }

    @Test func `what waited for the files is written when they come back`() async throws {
        let lease = try lease("p")
        await suspend()
        leases.publishFailed(lease, Refusal(.bFrames))
        let late = EmbeddedStoreTests.stage("late")
        async let write: Void = store.write { $0.put(late) }
        leases.takeBack(try await resume())
        try await write
        #expect(store.state.stages[late.arn] != nil)
        #expect(try await names(of: "p", in: store).contains(.publishError))
    }

    @Test func `after the other process died its publishes are over and ours go on`() async throws {
        let (ours, taken) = (Holder(), Holder())
        let kept = try lease("kept", ours)
        _ = try lease("taken", taken)
        let (next, table) = try await succeed(Lock([]), Lock([]))
        guard case .granted(let theirs) = claim("theirs", on: table) else { return #expect(Bool(false), "granted") }
        table.publishStarted(theirs)
        let added = EmbeddedStoreTests.stage("added")
        try await next.write { $0.put(added) }
        taken.end(.takenOver)
        next.close()  // what a killed process has committed is there just so
        leases.takeBack(try await resume())
        #expect(leases.isHeldHere(StageParticipant("kept", of: stage.arn)))
        #expect(!leases.isHeldHere(StageParticipant("taken", of: stage.arn)))
        #expect(store.state.stages[added.arn] != nil)
        #expect(try await names(of: "theirs", in: store).suffix(2) == [.publishStopped, .left])
        #expect(try await names(of: "kept", in: store).contains(.left) == false)
        guard case .granted(let next) = claim("theirs", on: leases) else { return #expect(Bool(false), "admits again") }
        #expect(next.generation > theirs.generation && next.stageSessionID == kept.stageSessionID)
    }

    @Test func `a publish that ends while the files come back from a dead process is over in the history`() async throws {
        let lease = try lease("p")
        let (next, _) = try await succeed(Lock([]), Lock([]))
        next.close()
        let result = await withCheckedContinuation { done in
            store.resume(sparing: livingBeforeRelease(of: lease)) { result in done.resume(returning: result) }
        }
        leases.takeBack(try result.get())
        #expect(try await names(of: "p", in: store).suffix(2) == [.publishStopped, .left])
    }

    private func livingBeforeRelease(of lease: PublishLease) -> Set<LivingParticipant> {
        defer { leases.release(lease) }
        return leases.living
    }

    @Test func `a queue that is closed while the files come back stays closed`() async throws {
        let directory = try TemporaryDirectory()
        let queue = StoreQueue(maximumWaiting: 10)
        let files = StoreFiles(directory: directory.path, webhooks: [], isQueueing: false)
        let (configuration, history) = try files.open()
        let thread = try WorkerThread.start(name: "store") {
            // Of a state it tells only in the midst of opening the files again.
            let outlets = StoreWriter.Outlets(
                publish: { _ in queue.close() }, onQueued: {}, onEvents: { _ in }, onNotice: { _ in })
            let writer = StoreWriter(
                files, configuration: configuration, history: history, retention: .seconds(60), state: StoreState(),
                standing: Lock(HistoryStanding()), outlets: outlets)
            queue.serve(writer)
        }
        await withCheckedContinuation { done in queue.order(.suspend(done: { done.resume() })) }
        let result = await withCheckedContinuation { done in
            queue.order(.resume(sparing: [], reply: { result in done.resume(returning: result) }))
        }
        _ = try result.get()
        #expect(queue.add(.history([])) == .closed)
        queue.close()
        thread.join()
    }
}
