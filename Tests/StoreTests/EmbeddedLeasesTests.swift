import Admission
import EventLoop
import Refusals
import Settings
import TestSupport
import Testing
import Wire

@testable import Store

/// Remembers how it was ended.
private final class Holder: LeaseHolder {
    private let ends = Lock<[LeaseEnd]>([])
    var lastProgress: MonotonicTime { .zero }
    var hasEnded: Bool { false }
    var ended: [LeaseEnd] { ends.withLock { $0 } }
    func end(_ reason: LeaseEnd) { ends.withLock { $0.append(reason) } }
}

@Suite("Embedded leases")
struct EmbeddedLeasesTests {
    let directory: TemporaryDirectory
    let store: EmbeddedStore
    let leases: EmbeddedLeases
    let clock = Lock(WallTime(secondsSince1970: 1_800_000_000))
    let stage = EmbeddedStoreTests.stage("one")

    init() async throws { (directory, store, leases) = try await EmbeddedLeases.bench(stage, clock) }

    private func grant(_ participant: String) -> PublishGrant {
        PublishGrant(participantID: participant, stageARN: stage.arn, stageID: stage.id, userID: "u", credentialHash: "h")
    }

    private func claim(
        _ participant: String, _ holder: Holder = Holder(), takeOver: Bool = false, by ingestProtocol: IngestProtocol = .rtmp
    ) -> ClaimAnswer {
        let answer = Lock<ClaimAnswer?>(nil)
        leases.claimPublish(grant(participant), protocol: ingestProtocol, holder: holder, takeOver: takeOver) { new in
            answer.withLock { $0 = new }
        }
        return answer.withLock { $0 } ?? .refused(Refusal(.internalError))
    }

    private func lease(
        _ participant: String, _ holder: Holder = Holder(), takeOver: Bool = false, by ingestProtocol: IngestProtocol = .rtmp
    ) throws -> PublishLease {
        guard case .granted(let lease) = claim(participant, holder, takeOver: takeOver, by: ingestProtocol) else {
            throw NotGranted()
        }
        return lease
    }

    private struct NotGranted: Error {}

    private func events(of participant: String) async throws -> [ParticipantEvent] {
        let arn = stage.arn
        return try await store.read { reader in
            try reader.sessions(ofStage: arn, after: nil, limit: 100).flatMap {
                try reader.events(of: .init(participant, ofStage: arn, sessionID: $0.sessionID), limit: 100)
            }
        }
    }

    @Test
    func `the second claim is held, a takeover gets a higher generation`() throws {
        let (first, second) = (Holder(), Holder())
        let old = try lease("p", first)
        guard case .held(let by) = claim("p", second) else { return #expect(Bool(false), "not held") }
        #expect(by === first)
        let new = try lease("p", second, takeOver: true)
        #expect(new.generation > old.generation)
        #expect(new.stageSessionID == old.stageSessionID)
        #expect(first.ended == [.takenOver])
    }

    @Test
    func `a release of an older generation changes nothing`() throws {
        let old = try lease("p")
        let new = try lease("p", takeOver: true)
        leases.release(old)
        #expect(leases.isHeldHere(StageParticipant("p", of: stage.arn)))
        leases.release(new)
        #expect(!leases.isHeldHere(StageParticipant("p", of: stage.arn)))
    }

    @Test
    func `a gateway at its limit of publishers says which setting that is`() throws {
        var quotas = QuotaSettings()
        quotas.publishers = 2
        let leases = EmbeddedLeases(store: store, quotas: quotas)
        let answers = Lock<[ClaimAnswer]>([])
        for participant in ["p1", "p2", "p3"] {
            leases.claimPublish(grant(participant), protocol: .rtmp, holder: Holder(), takeOver: false) { answer in
                answers.withLock { $0.append(answer) }
            }
        }
        guard case .refused(let refusal)? = answers.withLock({ $0.last }) else { return #expect(Bool(false), "not refused") }
        #expect(refusal.code == .overloaded && refusal.sentence.contains("quotas.publishers"))
    }

    @Test
    func `the thirteenth publisher of a stage is refused until one leaves`() throws {
        let held = try (0..<12).map { try lease("p\($0)") }
        guard case .refused(let refusal) = claim("late") else { return #expect(Bool(false), "not refused") }
        #expect(refusal.code == .stageFull)
        leases.release(held[3])
        _ = try lease("late")
    }

    /// And with them the participant that the stage sees of both.
    @Test
    func `two encoders of one ingest configuration take one place of their stage`() {
        let now = clock.withLock { $0 }
        var table = LeaseTable(quotas: QuotaSettings(), sessions: [], lastGeneration: 0, now: now)
        func refusal(_ participant: String, of configuration: String? = nil) -> RefusalCode? {
            var asked = grant(participant)
            asked.ingestConfigurationARN = configuration
            guard case .refused(let refusal) = table.claim(asked, .rtmp, Holder(), takeOver: false, now: now).answer else {
                return nil
            }
            return refusal.code
        }
        for number in 0..<11 { #expect(refusal("p\(number)") == nil) }
        for participant in ["first", "second", "both"] { #expect(refusal(participant, of: "pair") == nil) }
        #expect(refusal("late") == .stageFull)
    }

    @Test
    func `a stage session ends three minutes after its last publisher`() async throws {
        let first = try lease("p")
        leases.publishStarted(first)
        let session = try #require(leases.activeSession(ofStage: stage.arn))
        leases.release(first)
        clock.withLock { $0 = $0 + .seconds(179) }
        leases.endIdleSessions()
        let again = try lease("p")
        #expect(again.stageSessionID == session.sessionID)
        leases.release(again)
        clock.withLock { $0 = $0 + .seconds(180) }
        leases.endIdleSessions()
        #expect(leases.activeSession(ofStage: stage.arn) == nil)
        let arn = stage.arn
        let stored = try await store.read { try $0.session(session.sessionID, ofStage: arn) }
        #expect(stored?.endTime == clock.withLock { $0 })
        #expect(try lease("p").stageSessionID != session.sessionID)
    }

    @Test
    func `a publish leaves its four events in order, a takeover none`() async throws {
        leases.publishStarted(try lease("p"))
        let second = try lease("p", takeOver: true)
        leases.publishStarted(second)
        leases.release(second)
        let events = try await events(of: "p")
        #expect(events.map(\.name) == [.joined, .publishStarted, .publishStopped, .left])
        #expect(events.map(\.sequence) == events.map(\.sequence).sorted())
        let arn = stage.arn
        let session = second.stageSessionID
        let participant = try await store.read { try $0.participant(.init("p", ofStage: arn, sessionID: session)) }
        #expect(participant?.isConnected == false)
        #expect(participant?.published == true)
    }

    @Test
    func `who goes on with a publish by another protocol is shown with that while it is live`() async throws {
        leases.publishStarted(try lease("p"))
        let second = try lease("p", takeOver: true, by: .whip)
        leases.publishStarted(second)
        let (arn, session) = (stage.arn, second.stageSessionID)
        let participant = try await store.read { try $0.participant(.init("p", ofStage: arn, sessionID: session)) }
        #expect(participant?.ingestProtocol == "WHIP")
        #expect(participant?.isConnected == true)
        leases.release(second)
    }

    @Test
    func `an error is recorded with its code between joining and leaving`() async throws {
        let held = try lease("p")
        leases.publishFailed(held, Refusal(.stageFull))
        leases.release(held)
        let events = try await events(of: "p")
        #expect(events.map(\.name) == [.joined, .publishError, .left])
        #expect(events[1].errorCode == "QUOTA_EXCEEDED")
    }

    @Test
    func `who is turned away before it was there has not joined either, unless its media is the reason`() async throws {
        leases.publishRefused(grant("p"), protocol: .whip, Refusal(.stageFull))
        #expect(try await events(of: "p").map(\.name) == [.joinError, .publishError])
        #expect(try await events(of: "p").map(\.errorCode) == ["QUOTA_EXCEEDED", "QUOTA_EXCEEDED"])
        leases.publishRefused(grant("q"), protocol: .whip, Refusal(.bFrames))
        #expect(try await events(of: "q").map(\.name) == [.publishError])
    }

    @Test
    func `who is there already has joined: a second encoder fails to publish`() async throws {
        leases.publishStarted(try lease("p"))
        leases.publishRefused(grant("p"), protocol: .rtmp, Refusal(.streamKeyInUse))
        #expect(try await events(of: "p").map(\.name) == [.joined, .publishStarted, .publishError])
    }

    @Test
    func `a fault of ours is told as one`() async throws {
        let held = try lease("p")
        leases.publishFailed(held, Refusal(.internalError))
        leases.release(held)
        #expect(try await events(of: "p").first { $0.name == .publishError }?.errorCode == "INTERNAL_SERVER_EXCEPTION")
    }

    @Test
    func `a connection that never publishes leaves no trace`() async throws {
        leases.release(try lease("p"))
        #expect(leases.activeSession(ofStage: stage.arn) == nil)
        let arn = stage.arn
        #expect(try await store.read { try $0.sessions(ofStage: arn, after: nil, limit: 10) }.isEmpty)
    }

    @Test
    func `a credential that was withdrawn after it was found good is refused`() async throws {
        let arn = stage.arn
        try await store.write {
            $0.put(Revocation(stageARN: arn, participantID: "p", expiresAt: WallTime(secondsSince1970: 2_000_000_000)))
        }
        guard case .refused(let revoked) = claim("p") else { return #expect(Bool(false), "not refused") }
        #expect(revoked.code == .participantDisconnected)
        try await store.write { $0.removeStage(arn) }
        guard case .refused(let gone) = claim("q") else { return #expect(Bool(false), "not refused") }
        #expect(gone.code == .stageDeleted)
    }

    @Test
    func `warnings wait for the start and stay out of the API's list`() async throws {
        let lease = try lease("p")
        leases.publishWarned(lease, rule: "frameRate", sentence: "5 frames a second")
        #expect(try await events(of: "p").isEmpty)
        leases.publishStarted(lease)
        leases.publishWarned(lease, rule: "audioBitrate", sentence: "audio at 320 kbit/s")
        let warnings = try await store.read { try $0.events(after: 0, limit: 10) }.filter { $0.name == .publishWarning }
        #expect(warnings.map(\.rule) == ["frameRate", "audioBitrate"])
        #expect(warnings.map(\.sentence) == ["5 frames a second", "audio at 320 kbit/s"])
        #expect(try await events(of: "p").map(\.name) == [.joined, .publishStarted])
    }

    @Test
    func `a publish whose process died is ended in the history when the next one starts`() async throws {
        let lease = try lease("p")
        leases.publishStarted(lease)
        leases.publishWarned(lease, rule: "frameRate", sentence: "5 frames a second")
        _ = try await events(of: "p")
        store.close()
        let next = try EmbeddedStore(directory: directory.path)
        let arn = stage.arn
        let session = try #require(next.recovered.activeSessions.first)
        let events = try await next.read {
            try $0.events(of: .init("p", ofStage: arn, sessionID: session.sessionID), limit: 10)
        }
        #expect(events.map(\.name) == [.joined, .publishStarted, .publishStopped, .left])
        #expect(next.recovered.highestGeneration == events[0].generation)
    }

    @Test
    func `disconnecting ends the holder with the refusal`() throws {
        let holder = Holder()
        _ = try lease("p", holder)
        leases.end(StageParticipant("p", of: stage.arn), Refusal(.participantDisconnected))
        #expect(holder.ended == [.disconnected(Refusal(.participantDisconnected))])
        leases.end(StageParticipant("other", of: stage.arn), Refusal(.participantDisconnected))
    }
}

extension EmbeddedLeases {
    /// The running session of a stage, which is answered at once.
    func activeSession(ofStage arn: String) -> StageSession? {
        let found = Lock<StageSession?>(nil)
        activeSessions(ofStages: [arn]) { result in found.withLock { $0 = try? result.get()[arn] } }
        return found.withLock { $0 }
    }
}
