import Admission
import EventLoop
import Testing
import Wire

@testable import Store

/// A node of a cluster that others took for dead, and with it the session of its stage.
@Suite("A session that goes on")
struct RevivedSessionTests {
    private let stage = EmbeddedStoreTests.stage("one")
    private let told = Lock<[StageSession]>([])

    private final class Holder: LeaseHolder {
        var lastProgress: MonotonicTime { .zero }
        var hasEnded: Bool { false }
        func end(_ reason: LeaseEnd) {}
    }

    /// Leases that note which sessions begin.
    private func makeLeases() -> LocalLeases {
        LocalLeases(node: "a") { [told] writes in
            for case .sessionBegan(let session) in writes { told.withLock { $0.append(session) } }
        } wallNow: {
            WallTime(secondsSince1970: 1_800_000_000)
        }
    }

    private func session(_ id: String) -> StageSession {
        StageSession(stageARN: stage.arn, sessionID: id, startTime: WallTime(secondsSince1970: 1_800_000_000))
    }

    private func sessionsTold() -> [String] { told.withLock { $0.map(\.sessionID) } }

    @Test func `begins again in the history when its publisher does`() {
        let leases = makeLeases()
        let lease = PublishLease(participantID: "p", stageID: stage.id, stageSessionID: "st-1", generation: 5)
        let grant = PublishGrant(participantID: "p", stageARN: stage.arn, stageID: stage.id, credentialHash: "h")
        _ = leases.insert(LocalLeases.Entry(lease: lease, grant: grant, holder: Holder()), .whip, session: session("st-1"))
        leases.revive(lease, generation: 6)
        #expect(sessionsTold().isEmpty, "nobody has heard of it")
        _ = leases.started(lease)
        #expect(sessionsTold() == ["st-1"])
        leases.revive(lease, generation: 7)
        #expect(sessionsTold() == ["st-1", "st-1"])
        leases.release(lease)
        #expect(sessionsTold() == ["st-1", "st-1"])
    }

    @Test func `begins again in the history when its viewers do, and another one begins once`() {
        let leases = makeLeases()
        let grant = SubscribeGrant(participantID: "v", stageARN: stage.arn, stageID: stage.id)
        _ = leases.watchStarted(Watching(grant, watches: "p"), session: session("st-1"))
        #expect(sessionsTold() == ["st-1"])
        _ = leases.moveViewers(to: session("st-1"))
        #expect(sessionsTold() == ["st-1", "st-1"])
        _ = leases.moveViewers(to: session("st-2"))
        #expect(sessionsTold() == ["st-1", "st-1", "st-2"])
    }
}
