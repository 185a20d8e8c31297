import Admission
import Cluster
import EventLoop
import Redis
import Refusals
import Settings
import Store
import TestSupport
import Testing
import Wire

@Suite("Leases of a platform, three nodes and a real server", .timeLimit(.minutes(10)), .serialized)
struct ClusterLeasesTests {
    private func platform(
        _ server: RedisServer, stages: [String] = ["one"], _ adjust: (inout NodeSettings) -> Void = { _ in }
    ) throws -> [TestNode] {
        let nodes = try ["a", "b", "c"].map { try TestNode($0, on: server, stages: stages, adjust) }
        for node in nodes { try #require(node.waitUntilReady()) }
        return nodes
    }

    /// Half the usual times: what is judged is their order.
    private static func hasten(_ settings: inout NodeSettings) {
        (settings.cluster.leaseLifetime, settings.cluster.heartbeatLifetime) = (.seconds(5), .seconds(5))
        (settings.cluster.renewalInterval, settings.cluster.grace) = (.seconds(1), .seconds(7))
    }

    @Test func `of 36 that race over three nodes 12 are admitted, never 13, in 200 rounds`() throws {
        let server = try RedisServer()
        let stages = (0..<200).map { "stage\($0)" }
        let nodes = try platform(server, stages: stages)
        defer { withExtendedLifetime((server, nodes)) {} }
        for stage in stages {
            var claims = (0..<36).map { TestClaim("p\($0)", at: nodes[$0 % 3], stage: stage) }
            for index in claims.indices {
                // On a busy machine a node may take the server for away, for a moment.
                waitUntil {
                    if claims[index].settled().refusal?.code == .platformAway {
                        claims[index] = TestClaim("p\(index)", at: nodes[index % 3], stage: stage)
                    }
                    return claims[index].answer != nil && claims[index].refusal?.code != .platformAway
                }
            }
            #expect(claims.count { $0.lease != nil } == 12)
            #expect(claims.count { $0.refusal?.code == .stageFull } == 24, "\(claims.map { $0.refusal?.code })")
            // At its own node: what another one gave back would count there on, toward the quota of the whole.
            for (index, claim) in claims.enumerated() { if let lease = claim.lease { nodes[index % 3].leases.release(lease) } }
        }
    }

    /// All of them in one turn, before the server can have answered any.
    @Test func `a node renews what it holds on more stages than other connections take commands`() throws {
        let server = try RedisServer()
        // In the order in which they are renewed: those beyond the limit are claimed last, and never were.
        let stages = (0..<RedisLimits().maximumPipelinedCommands + 100).map { "stage\($0)" }.sorted()
        let node = try TestNode("a", on: server, stages: stages) { $0.quotas.publishers = 10_000 }
        defer { withExtendedLifetime((server, node)) {} }
        try #require(node.waitUntilReady())
        for start in stride(from: 0, to: stages.count, by: 1_000) {
            let claims = stages[start...].prefix(1_000).map { TestClaim("p", at: node, stage: $0) }
            #expect(claims.allSatisfy { $0.settled().lease != nil })
        }
        #expect(waitUntil { stages.allSatisfy { node.leases.renewalTime(ofStage: $0) != nil } })
    }

    @Test func `of the same participant at two nodes at once exactly one wins, and the other sees it`() throws {
        let server = try RedisServer()
        let stages = (0..<100).map { "stage\($0)" }
        let nodes = try platform(server, stages: stages)
        defer { withExtendedLifetime((server, nodes)) {} }
        for stage in stages {
            let claims = [TestClaim("p", at: nodes[0], stage: stage), TestClaim("p", at: nodes[1], stage: stage)]
            for claim in claims { _ = claim.settled() }
            #expect(claims.count { $0.lease != nil } == 1)
            #expect(claims.count { $0.incumbent != nil } == 1)
        }
    }

    @Test func `who watches through two nodes is in one session, counts as no publisher, and leaves with its node`() throws {
        let server = try RedisServer()
        let nodes = try platform(server) {
            Self.hasten(&$0)
            $0.quotas.publishersPerStage = 1
            $0.quotas.sessionLinger = .seconds(1)
        }
        defer { withExtendedLifetime((server, nodes)) {} }
        func watching(_ viewer: String) -> Watching {
            Watching(
                SubscribeGrant(participantID: viewer, stageARN: Stage.named("one").arn, stageID: "one"), watches: "p")
        }
        func events(_ node: TestNode) -> [(name: ParticipantEvent.Name, session: String)] {
            node.history.withLock { $0 }.compactMap { write in
                if case .event(let event) = write { (event.name, event.sessionID) } else { nil }
            }
        }
        for (index, node) in nodes.enumerated() { node.leases.watchStarted(watching("v\(index)")) }
        #expect(waitUntil { nodes.allSatisfy { events($0).map(\.name) == [.joined, .subscribeStarted] } })
        #expect(Set(nodes.flatMap { events($0).map(\.session) }).count == 1)
        #expect(TestClaim("p", at: nodes[1]).settled().lease != nil, "the only publisher that may be")
        nodes[0].leases.watchStopped(watching("v0"))
        #expect(waitUntil { events(nodes[0]).map(\.name) == [.joined, .subscribeStarted, .subscribeStopped, .left] })
        nodes[2].die()
        #expect(
            waitUntil {
                nodes[..<2].contains { node in
                    node.history.withLock { $0 }.contains {
                        if case .closed(_, _, ">c", _, _) = $0 { true } else { false }
                    }
                }
            })
    }

    @Test func `a redundant pair at two nodes is one publisher`() throws {
        let server = try RedisServer()
        let nodes = try platform(server) { $0.quotas.publishersPerStage = 1 }
        defer { withExtendedLifetime((server, nodes)) {} }
        for node in nodes { node.change { $0.attach("pair", to: "one") } }
        #expect(TestClaim("primary", at: nodes[0], ingest: "pair").settled().lease != nil)
        #expect(TestClaim("backup", at: nodes[1], ingest: "pair").settled().lease != nil)
        #expect(TestClaim("third", at: nodes[2]).settled().refusal?.code == .stageFull)
    }

    @Test func `an incumbent elsewhere shows its progress, and is taken over by whoever saw it`() throws {
        let server = try RedisServer()
        let nodes = try platform(server)
        defer { withExtendedLifetime((server, nodes)) {} }
        let first = TestClaim("p", at: nodes[0]).settled()
        let old = try #require(first.lease)
        nodes[0].leases.publishStarted(old)
        let incumbent = try #require(TestClaim("p", at: nodes[1]).settled().incumbent)
        let seen = incumbent.lastProgress
        #expect(seen <= EventLoop.monotonicNow())
        first.holder.progressed()
        #expect(waitUntil { incumbent.lastProgress > seen })
        let second = TestClaim("p", at: nodes[1], takeOver: true).settled()
        let new = try #require(second.lease)
        #expect(new.generation > old.generation)
        #expect(new.stageSessionID == old.stageSessionID)
        #expect(waitUntil { first.holder.ends == [.takenOver] })
        #expect(waitUntil { incumbent.hasEnded })
        // Its own node tells that it stopped; the other one says so too, in case it has died meanwhile, but later.
        #expect(waitUntil { nodes[0].events(.publishStopped, "p").map(\.generation) == [old.generation] })
        // A release that comes late is not of the new one.
        nodes[0].leases.release(old)
        #expect(TestClaim("p", at: nodes[2]).settled().incumbent != nil)
        #expect(waitUntil { nodes[1].closed == ["p": old.generation] })
    }

    @Test func `a node that dies leaves its participants to others within its lease, and no ghost`() throws {
        let server = try RedisServer()
        let nodes = try platform(server, Self.hasten)
        defer { withExtendedLifetime((server, nodes)) {} }
        let claims = ["p", "q", "r"].map { TestClaim($0, at: nodes[0]).settled() }
        let generations = try claims.map { try #require($0.lease).generation }
        nodes[0].die()
        let killed = EventLoop.monotonicNow()
        let retry = TestClaim("p", at: nodes[1]).settled()
        #expect(retry.lease != nil, "\(String(describing: retry.answer)) after \(EventLoop.monotonicNow() - killed)")
        let isSwept = waitUntil { ["q", "r"].allSatisfy { (nodes[1].closed[$0] ?? nodes[2].closed[$0]) != nil } }
        #expect(isSwept)
        #expect(nodes[1].closed["p"] ?? nodes[2].closed["p"] == generations[0])
        // By one survivor, once.
        let closed = (nodes[1].history.withLock { $0 } + nodes[2].history.withLock { $0 }).compactMap { write in
            if case .closed(_, _, let participant, let generation, _) = write { "\(participant) \(generation)" } else { nil }
        }
        #expect(closed.sorted() == zip(["p", "q", "r"], generations).map { "\($0) \($1)" })
        #expect(live(["p", "q", "r"], asking: nodes[2]) == ["p"])
        #expect(waitUntil { nodes[2].leases.nodes.map(\.id) == ["b", "c"] })
    }

    @Test func `the encoders of a dead node need not wait for its leases, and others do`() throws {
        let server = try RedisServer()
        // Leases that hold for longer than anybody waits here; a busy machine may need some time to be sure.
        let nodes = try platform(server) {
            ($0.cluster.leaseLifetime, $0.cluster.renewalInterval) = (.seconds(300), .seconds(100))
            ($0.cluster.grace, $0.cluster.claimPatience) = (.seconds(1), .seconds(200))
        }
        defer { withExtendedLifetime((server, nodes)) {} }
        let claims = ["p", "q"].map { TestClaim($0, at: nodes[0]).settled() }
        let generations = try claims.map { try #require($0.lease).generation }
        nodes[0].die()
        let killed = EventLoop.monotonicNow()
        let stranger = TestClaim("q", at: nodes[1], credential: "another")
        let returning = TestClaim("p", at: nodes[1]).settled()
        print("an encoder was back at another node after \((EventLoop.monotonicNow() - killed).inSeconds) s")
        #expect((returning.lease?.generation ?? 0) > generations[0])
        // What it had published there is over, and nobody else can say so.
        #expect(nodes[1].closed["p"] == generations[0])
        #expect(stranger.answer == nil)
        #expect(TestClaim("q", at: nodes[2]).settled().lease != nil)
    }

    @Test func `whoever is disconnected is told at once wherever it lives, and by its record otherwise`() throws {
        let server = try RedisServer()
        // Renewals are rare: what is told is told by the message.
        let nodes = try platform(server) {
            ($0.cluster.leaseLifetime, $0.cluster.renewalInterval) = (.seconds(300), .seconds(100))
        }
        defer { withExtendedLifetime((server, nodes)) {} }
        let claims = ["p", "q", "r"].map { TestClaim($0, at: nodes[0]).settled() }
        #expect(claims.allSatisfy { $0.lease != nil })
        let refusal = Refusal(.participantDisconnected, sentence: "Go.")
        let asked = EventLoop.monotonicNow()
        nodes[1].leases.end(StageParticipant("p", of: Stage.named("one").arn), refusal)
        #expect(waitUntil { claims[0].holder.ends == [.disconnected(refusal)] })
        print("disconnected at another node after \((EventLoop.monotonicNow() - asked).inSeconds * 1_000) ms")
        #expect(claims[1].holder.ends.isEmpty)
        nodes[2].leases.endAll(ofStage: Stage.named("one").arn, Refusal(.stageDeleted))
        #expect(waitUntil { claims[2].holder.ends == [.disconnected(Refusal(.stageDeleted))] })
        #expect(waitUntil { claims[1].holder.hasEnded })
        #expect(waitUntil { live(["p", "q", "r"], asking: nodes[2]) == [] }, "holders are told before their records go")
    }

    @Test func `the platform's limit counts the publishers that other nodes tell of`() throws {
        let server = try RedisServer()
        defer { withExtendedLifetime(server) {} }
        let other = try TestNode("b", on: server, publishers: 7)
        let node = try TestNode("a", on: server) { $0.quotas.publishers = 9 }
        #expect(waitUntil { node.leases.nodes.contains { $0.id == "b" && $0.publishers == 7 } })
        #expect(TestClaim("p", at: node).settled().lease != nil)
        #expect(TestClaim("q", at: node).settled().lease != nil)
        let refusal = TestClaim("r", at: node).settled().refusal
        #expect(refusal?.code == .overloaded)
        #expect(refusal?.sentence.contains("quotas.publishers") == true)
        // Who has a place keeps it.
        #expect(TestClaim("q", at: node, takeOver: true).settled().lease != nil)
        #expect(other.leases.nodes.count <= 2)
    }

    @Test func `a change of the configuration ends what it no longer permits`() throws {
        let server = try RedisServer()
        defer { withExtendedLifetime(server) {} }
        let node = try TestNode("a", on: server)
        try #require(node.waitUntilReady())
        let claim = TestClaim("p", at: node).settled()
        #expect(claim.lease != nil)
        node.change { $0 = StoreState() }
        #expect(waitUntil { claim.holder.ends == [.disconnected(Refusal(.stageDeleted))] })
        #expect(TestClaim("p", at: node).settled().refusal?.code == .stageDeleted)
    }

    @Test func `sessions are the platform's: seen everywhere, and ended once when nobody publishes`() throws {
        let server = try RedisServer()
        let nodes = try platform(server) { $0.quotas.sessionLinger = .seconds(1) }
        defer { withExtendedLifetime((server, nodes)) {} }
        let first = try #require(TestClaim("p", at: nodes[0]).settled().lease)
        let second = try #require(TestClaim("q", at: nodes[1]).settled().lease)
        #expect(first.stageSessionID == second.stageSessionID)
        nodes[0].leases.publishStarted(first)
        #expect(waitUntil { session(asking: nodes[2]) == first.stageSessionID })
        nodes[0].leases.release(first)
        nodes[1].leases.release(second)
        #expect(waitUntil { session(asking: nodes[2]) == nil })
        #expect(
            waitUntil {
                let ended = nodes.flatMap { $0.history.withLock { $0 } }.compactMap { write in
                    if case .sessionEnded(_, let session, _) = write { session } else { nil }
                }
                return Set(ended) == [first.stageSessionID]
            }, "whoever ends it tells of it, a moment after the others see it gone, and whoever asks before that is known")
        #expect(try #require(TestClaim("p", at: nodes[1]).settled().lease).stageSessionID != first.stageSessionID)
    }
}

@Suite("What leases of a platform know of stages")
struct ClusterLeaseEnvironmentTests {
    @Test func `a stage has the ARN that it was made with, whatever the region is now`() throws {
        let directory = try TemporaryDirectory()
        let store = try EmbeddedStore(directory: directory.path) { $0.put(Stage.named("one")) }
        defer { store.close() }
        let names = ResourceName(region: "eu-west-1")
        let environment = ClusterLeases.Environment(store: store, names: names)
        #expect(environment.stageARN("one") == Stage.named("one").arn)
        #expect(environment.stageARN("gone") == names.arn(.stage, "gone"))
    }
}

/// Who of these publishes, as another node answers; nil when it cannot know.
/// - Parameter surely: so that whoever is missing is gone.
func live(_ participants: [String], stage: String = "one", surely: Bool = false, asking node: TestNode) -> Set<String>? {
    let answer = Lock<Result<Set<StageParticipant>, StoreError>?>(nil)
    let asked = Set(participants.map { StageParticipant($0, of: Stage.named(stage).arn) })
    let take: @Sendable (Result<Set<StageParticipant>, StoreError>) -> Void = { result in answer.withLock { $0 = result } }
    if surely { node.leases.surelyLive(among: asked, reply: take) } else { node.leases.live(among: asked, reply: take) }
    waitUntil { answer.withLock { $0 != nil } }
    return answer.withLock { try? $0?.get() }.map { Set($0.map(\.participantID)) }
}

private func session(asking node: TestNode) -> String? {
    let (answer, arn) = (Lock<Result<[String: StageSession], StoreError>?>(nil), Stage.named("one").arn)
    node.leases.activeSessions(ofStages: [arn]) { result in answer.withLock { $0 = result } }
    waitUntil { answer.withLock { $0 != nil } }
    return answer.withLock { try? $0?.get()[arn]?.sessionID }
}

extension StoreState {
    /// Has an ingest configuration of a stage.
    mutating func attach(_ arn: String, to stage: String) {
        put(
            .ingestConfiguration(
                IngestConfiguration(
                    arn: arn, stageARN: Stage.named(stage).arn, participantID: arn, streamKey: Secret(arn), transport: .rtmp,
                    insecureIngest: true, createdAt: WallTime(secondsSince1970: 1_800_000_000))))
    }
}
