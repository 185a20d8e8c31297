import Admission
import EventLoop
import Handover
import HandoverCodec
import JSON
import RouterForwarding
import Sockets
import Store
import TestSupport
import Testing
import Wire

@testable import Node

@Suite("What the process that takes our place gets and hears", .timeLimit(.minutes(10)))
struct SuccessorTests {
    private final class Holder: LeaseHolder {
        var lastProgress: MonotonicTime { MonotonicTime(nanoseconds: 7) }
        var hasEnded: Bool { false }
        func end(_ reason: LeaseEnd) {}
    }

    /// A process with two workers and one live publish, and the other end of its successor's connection.
    private final class Bench {
        let successor: Successor
        private(set) var lease: PublishLease?
        private(set) var heard: [HandoverMessage] = []
        private(set) var descriptorCount = 0
        private let loop: EventLoop
        private let far: HandoverChannel
        private let folder: TemporaryDirectory
        private let store: EmbeddedStore

        init() throws {
            loop = try EventLoop()
            folder = try TemporaryDirectory()
            let stage = Stage(arn: ResourceName().arn(.stage, "one"), createdAt: WallTime(secondsSince1970: 1))
            store = try EmbeddedStore(directory: folder.path, seeding: { $0.put(stage) })
            let leases = EmbeddedLeases(store: store)
            let placements = LocalPlacements()
            for stage in ["one", "another"] {
                placements.adopt(PlacementRecord(router: "a", generation: 7), of: PlacementKey(stageID: stage, replica: 0))
            }
            let router = StaticRouter(StaticRouter.Configuration(ports: 5004...5007), publish: { _, _ in })
            router.reserve(for: "arn", ParticipantKey("p", onStage: "one"))
            let (near, other) = try DescriptorMessage.makePair()
            let (listener, _) = try DescriptorMessage.makePair()
            far = HandoverChannel(loop: loop, descriptor: other)
            successor = Successor(
                loop: loop, HandoverChannel(loop: loop, descriptor: near),
                Successor.Environment(
                    process: ProcessIdentity(generation: 3, sessionKey: Secret([1, 2]), workerCount: 2), leases: leases,
                    staticRouters: [router], placements: placements, activated: [.https],
                    sockets: { [(SocketRole(.rtmp), listener)] }, sessions: { [["sessionId": "a"]] }, predecessor: { nil }))
            far.onMessage = { [unowned self] message, descriptors in
                heard.append(message)
                descriptorCount += descriptors.count
            }
            let grant = PublishGrant(participantID: "p", stageARN: stage.arn, stageID: stage.id, credentialHash: "h")
            let granted = Lock<PublishLease?>(nil)
            leases.claimPublish(grant, protocol: .rtmp, holder: Holder(), takeOver: false) { answer in
                if case .granted(let lease) = answer { granted.withLock { $0 = lease } }
            }
            lease = granted.withLock { $0 }
            if let lease { leases.publishStarted(lease) }
        }

        deinit { store.close() }

        func hear(_ count: Int) -> Bool { loop.run(until: { heard.count >= count }, within: .seconds(60)) }
    }

    @Test func `an offer brings every descriptor, and leaves us an end of each worker's pair`() throws {
        let bench = try Bench()
        bench.successor.offer()
        #expect(bench.hear(2))
        let offer = HandoverOffer(generation: 3, workers: 2, descriptors: 4, sessionKey: [1, 2], activated: [.https])
        let pairs = [SocketRole(.datagrams, worker: 0), SocketRole(.datagrams, worker: 1), SocketRole(.life)]
        #expect(bench.heard == [.offer(offer), .sockets([SocketRole(.rtmp)] + pairs)])
        #expect(bench.descriptorCount == 4)
        #expect(bench.successor.takeLinks().count == 2)
        #expect(bench.successor.takeLinks().isEmpty)
    }

    @Test func `an offer that came to nothing leaves nothing`() throws {
        let bench = try Bench()
        bench.successor.offer()
        bench.successor.clear()
        #expect(bench.successor.takeLinks().isEmpty)
    }

    @Test func `what is told once is what is live, and where`() throws {
        let bench = try Bench()
        let lease = try #require(bench.lease)
        bench.successor.tellLiving()
        bench.successor.tellReservations()
        bench.successor.tellPlacements()
        bench.successor.tellPredecessors()
        #expect(bench.hear(4))
        #expect(
            bench.heard == [
                .living([LivingParticipant(sessionID: lease.stageSessionID, participantID: "p")]),
                .reservation(PortReservation(router: "static", owner: "arn", port: 5004)),
                .placements([HandedPlacement(stageID: "one", replica: 0, router: "a", generation: 7)]),
                .predecessors(0),
            ])
    }

    @Test func `progress is told again and again, with what each session does`() throws {
        let bench = try Bench()
        let lease = try #require(bench.lease)
        bench.successor.tellProgress()
        #expect(bench.hear(4))
        let progress = HandoverMessage.progress([HolderProgress(lease: lease, nanoseconds: 7)])
        let session = JSONValue.object(["sessionId": "a"]).serialized()
        #expect(bench.heard.prefix(3) == [progress, .sessions([PeerBytes(session)], isLast: false), .sessions([], isLast: true)])
        #expect(bench.heard[3] == progress)
    }
}
