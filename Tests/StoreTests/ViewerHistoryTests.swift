import Admission
import EventLoop
import Refusals
import TestSupport
import Testing
import Wire

@testable import Store

@Suite("Those who watch are participants")
struct ViewerHistoryTests {
    let directory: TemporaryDirectory
    let store: EmbeddedStore
    let leases: EmbeddedLeases
    let clock = Lock(WallTime(secondsSince1970: 3_600_000_000))
    let stage = EmbeddedStoreTests.stage("one")

    init() async throws { (directory, store, leases) = try await EmbeddedLeases.bench(stage, clock) }

    private final class Holder: LeaseHolder {
        var lastProgress: MonotonicTime { .zero }
        var hasEnded: Bool { false }
        func end(_ reason: LeaseEnd) {}
    }

    private func watching(_ viewer: String, _ watched: String = "publisher") -> Watching {
        var grant = SubscribeGrant(
            participantID: viewer, stageARN: stage.arn, stageID: stage.id, userID: "user", attributes: ["k": "v"])
        grant.userAgent = "Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0"
        return Watching(grant, watches: watched)
    }

    private func grant(_ participant: String) -> PublishGrant {
        PublishGrant(participantID: participant, stageARN: stage.arn, stageID: stage.id, userID: "user", credentialHash: "h")
    }

    private func publish(as participant: String) throws -> PublishLease {
        let lease = Lock<PublishLease?>(nil)
        leases.claimPublish(grant(participant), protocol: .whip, holder: Holder(), takeOver: false) { answer in
            if case .granted(let granted) = answer { lease.withLock { $0 = granted } }
        }
        let granted = try #require(lease.withLock { $0 })
        leases.publishStarted(granted)
        return granted
    }

    private func told(of participant: String) async throws -> [String] {
        let arn = stage.arn
        return try await store.read { reader in
            try reader.sessions(ofStage: arn, after: nil, limit: 100).reversed().flatMap {
                try reader.events(of: .init(participant, ofStage: arn, sessionID: $0.sessionID), limit: 2_000)
            }.map { event in
                [event.name.rawValue, event.remoteParticipantID, event.errorCode].filter { !$0.isEmpty }.joined(separator: " ")
            }
        }
    }

    private func shown(_ participant: String) async throws -> Participant? {
        let arn = stage.arn
        return try await store.read { reader in
            guard let session = try reader.sessions(ofStage: arn, after: nil, limit: 1).first else { return nil }
            return try reader.participant(.init(participant, ofStage: arn, sessionID: session.sessionID))
        }
    }

    @Test
    func `who joins first opens the session, which ends three minutes after the last has left`() async throws {
        leases.watchStarted(watching("v"))
        let session = try #require(leases.activeSession(ofStage: stage.arn))
        let viewer = try #require(try await shown("v"))
        #expect(viewer.isConnected && !viewer.published && viewer.userID == "user" && viewer.attributes == ["k": "v"])
        #expect(viewer.ingestProtocol.isEmpty && viewer.client.browserName == "Chrome")
        clock.withLock { $0 = $0 + .seconds(1_000) }
        leases.endIdleSessions()
        #expect(leases.activeSession(ofStage: stage.arn) == session, "somebody watches")
        leases.watchStopped(watching("v"))
        #expect(try await told(of: "v") == ["JOINED", "SUBSCRIBE_STARTED publisher", "SUBSCRIBE_STOPPED publisher", "LEFT"])
        #expect(try await shown("v")?.isConnected == false)
        clock.withLock { $0 = $0 + .seconds(180) }
        leases.endIdleSessions()
        #expect(leases.activeSession(ofStage: stage.arn) == nil)
    }

    @Test
    func `sessions of one viewer are one participant, and each watched participant one subscription`() async throws {
        for watched in ["a", "a", "b"] { leases.watchStarted(watching("v", watched)) }
        leases.watchStopped(watching("v", "a"))
        #expect(try await told(of: "v") == ["JOINED", "SUBSCRIBE_STARTED a", "SUBSCRIBE_STARTED b"])
        leases.watchStopped(watching("v", "b"))
        leases.watchStopped(watching("v", "a"))
        #expect(try await told(of: "v").suffix(3) == ["SUBSCRIBE_STOPPED b", "SUBSCRIBE_STOPPED a", "LEFT"])
        leases.watchStopped(watching("v", "a"))
        #expect(try await told(of: "v").count == 6, "it has left")
    }

    @Test
    func `who publishes and watches joins once and leaves once, whichever ends first`() async throws {
        let lease = try publish(as: "p")
        leases.watchStarted(watching("p", "other"))
        leases.release(lease)
        #expect(try await shown("p")?.isConnected == true)
        #expect(try await shown("p")?.ingestProtocol == "WHIP", "how it published stays")
        let again = try publish(as: "p")
        leases.watchStopped(watching("p", "other"))
        #expect(try await shown("p")?.isConnected == true)
        leases.release(again)
        #expect(
            try await told(of: "p") == [
                "JOINED", "PUBLISH_STARTED", "SUBSCRIBE_STARTED other", "PUBLISH_STOPPED", "PUBLISH_STARTED",
                "SUBSCRIBE_STOPPED other", "PUBLISH_STOPPED", "LEFT",
            ])
        let participant = try #require(try await shown("p"))
        #expect(!participant.isConnected && participant.published)
    }

    @Test
    func `who watches and may not publish is still there, and has joined`() async throws {
        leases.watchStarted(watching("v"))
        leases.publishRefused(grant("v"), protocol: .whip, Refusal(.tokenCannotPublish))
        #expect(try await shown("v")?.isConnected == true)
        let error = "PUBLISH_ERROR INSUFFICIENT_CAPABILITIES"
        #expect(try await told(of: "v") == ["JOINED", "SUBSCRIBE_STARTED publisher", error])
    }

    @Test
    func `the first join counts, and no refusal or network test before it`() async throws {
        let lease = try publish(as: "p")
        let test = try publish(as: "q")
        leases.publishWasTest(test)
        leases.release(test)
        leases.watchRefused(watching("v"), Refusal(.participantNotLive))
        leases.publishRefused(grant("q"), protocol: .whip, Refusal(.stageFull))
        for _ in 0..<2 {
            clock.withLock { $0 = $0 + .seconds(10) }
            leases.watchStarted(watching("v"))
            leases.watchStopped(watching("v"))
            leases.release(try publish(as: "q"))
        }
        let first = WallTime(secondsSince1970: 3_600_000_010)
        #expect(try await shown("v")?.firstJoinTime == first)
        #expect(try await shown("q")?.firstJoinTime == first)
        leases.release(lease)
    }

    @Test
    func `an error goes into the running session, once a minute`() async throws {
        leases.watchRefused(watching("v"), Refusal(.participantNotLive))
        #expect(leases.activeSession(ofStage: stage.arn) == nil, "nobody is there")
        let lease = try publish(as: "p")
        for _ in 0..<5 { leases.watchRefused(watching("v"), Refusal(.participantNotLive)) }
        leases.watchRefused(watching("v"), Refusal(.tooManySubscribers))
        leases.watchRefused(watching("v"), Refusal(.unknownLayer))
        let errors = ["SUBSCRIBE_ERROR publisher PUBLISHER_NOT_FOUND", "SUBSCRIBE_ERROR publisher QUOTA_EXCEEDED"]
        #expect(try await told(of: "v") == errors)
        #expect(try await shown("v")?.isConnected == false)
        clock.withLock { $0 = $0 + .seconds(60) }
        leases.watchRefused(watching("v"), Refusal(.participantNotLive))
        #expect(try await told(of: "v") == errors + [errors[0]])
        leases.release(lease)
    }

    @Test
    func `errors of one viewer keep no other's out of the history, those of one stage no other stage's`() {
        var table = ViewerTable(node: nil)
        let now = WallTime(secondsSince1970: 1_800_000_000)
        func isTold(_ viewer: String, _ watched: String, onStage id: String) -> Bool {
            let grant = SubscribeGrant(participantID: viewer, stageARN: "arn/\(id)", stageID: id)
            let writes = table.refused(
                Watching(grant, watches: watched), sessionID: "st-\(id)", generation: 1, errorCode: "PUBLISHER_NOT_FOUND",
                isPresent: false, now: now)
            return !writes.isEmpty
        }
        let guesses = (0..<2_000).count { isTold("guesser", "guess\($0)", onStage: "a") }
        let honest = isTold("v", "publisher", onStage: "a")
        #expect(guesses == ViewerTable.maximumErrorsOfViewer && honest)
        let viewers = (0..<2_000).count { isTold("v\($0)", "publisher", onStage: "a") }
        let neighbour = isTold("v", "publisher", onStage: "b")
        #expect(viewers == ViewerTable.maximumErrors - guesses - 1 && neighbour)
    }

    @Test
    func `what a gateway that died left open is closed when it starts again`() async throws {
        for watched in ["a", "b"] { leases.watchStarted(watching("v", watched)) }
        leases.watchStopped(watching("v", "a"))
        let lease = try publish(as: "v")
        _ = try await told(of: "v")
        store.close()
        let store = try EmbeddedStore(directory: directory.path)
        let arn = stage.arn
        let names = try await store.read { reader in
            try reader.events(of: .init("v", ofStage: arn, sessionID: lease.stageSessionID), limit: 100).map {
                $0.name.rawValue + $0.remoteParticipantID
            }
        }
        #expect(names.suffix(3) == ["SUBSCRIBE_STOPPEDb", "PUBLISH_STOPPED", "LEFT"], "\(names)")
        store.close()
    }

    @Test(.timeLimit(.minutes(10)))
    func `6,000 short viewers leave a bounded history, and the publisher all of his`() async throws {
        let lease = try publish(as: "p")
        for number in 0..<6_000 {
            clock.withLock { $0 = $0 + .milliseconds(10) }
            leases.watchStarted(watching("v\(number)", "p"))
            leases.watchStopped(watching("v\(number)", "p"))
            // The store's queue is bounded.
            if number % 500 == 0 { _ = try await told(of: "p") }
        }
        let (arn, session) = (stage.arn, lease.stageSessionID)
        let (participants, events) = try await store.read { reader in
            let all = try reader.participants(ofStage: arn, sessionID: session, limit: 20_000)
            return (all, try reader.events(after: 0, limit: 100_000).count)
        }
        let limit = HistoryDatabase.maximumFormerViewers + Int(HistoryDatabase.boundingInterval)
        #expect(participants.count <= limit + 1 && participants.count > HistoryDatabase.maximumFormerViewers / 2)
        #expect(events <= 4 * (limit + 1))
        #expect(participants.contains { $0.participantID == "p" && $0.isConnected && $0.published })
        #expect(participants.contains { $0.participantID == "v5999" } && !participants.contains { $0.participantID == "v0" })
    }

    @Test(.timeLimit(.minutes(10)))
    func `one who comes and goes all day leaves a bounded history too`() async throws {
        for round in 0..<1_500 {
            leases.watchStarted(watching("v"))
            leases.watchStopped(watching("v"))
            if round % 500 == 0 { _ = try await told(of: "v") }
        }
        let count = try await told(of: "v").count
        #expect(count <= HistoryDatabase.maximumParticipantEvents + Int(HistoryDatabase.boundingInterval))
    }
}
