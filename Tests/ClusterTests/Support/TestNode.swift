import Admission
import Cluster
import EventLoop
import Foundation
import Redis
import Refusals
import Settings
import Store
import TestSupport
import Wire

/// One node of a platform, with a control loop on a thread of its own.
final class TestNode: Sendable {
    let leases: ClusterLeases
    let history = Lock<[HistoryWrite]>([])
    /// Why the server wrote nothing, and nil for each time that it wrote again.
    let refusals = Lock<[RedisError?]>([])
    private let state: Lock<StoreState>
    private enum Order { case stop, pause }
    private let orders: Lock<MailboxSender<Order>?>
    private enum Pace { case running, paused, resuming }
    private let pace: Lock<Pace>
    private let thread: WorkerThread

    convenience init(
        _ name: String, on server: RedisServer, limits: RedisLimits = .ofBusyMachine, stages: [String] = ["one"],
        publishers: Int = 0, _ adjust: (inout NodeSettings) -> Void = { _ in }
    ) throws {
        let topology = RedisSettings.Topology.standalone([RedisEndpoint(host: "127.0.0.1", port: server.port)])
        try self.init(name, on: topology, limits: limits, stages: stages, publishers: publishers, adjust)
    }

    init(
        _ name: String, on topology: RedisSettings.Topology, limits: RedisLimits, stages: [String] = ["one"],
        publishers: Int = 0, _ adjust: (inout NodeSettings) -> Void = { _ in }
    ) throws {
        var settings = NodeSettings(nodeID: name)
        adjust(&settings)
        var content = StoreState()
        for stage in stages { content.put(.stage(Stage.named(stage))) }
        let state = Lock(content)
        self.state = state
        let (history, refusals) = (history, refusals)
        let leases = ClusterLeases(
            settings: settings,
            environment: ClusterLeases.Environment(
                state: { state.withLock { $0 } }, record: { writes in history.withLock { $0 += writes } },
                stageARN: { Stage.named($0).arn }))
        self.leases = leases
        var redis = RedisSettings(topology)
        redis.limits = limits
        let (orders, pace) = (Lock<MailboxSender<Order>?>(nil), Lock(Pace.running))
        (self.orders, self.pace) = (orders, pace)
        let settingsOfRedis = redis
        thread = try WorkerThread.start(name: "node-\(name)") {
            do {
                let loop = try EventLoop()
                let node = try ClusterMember(loop: loop, leases: leases, redis: settingsOfRedis)
                node.record.publishers = publishers
                node.onWritesChange = { error in refusals.withLock { $0.append(error) } }
                let box = try Mailbox<Order>(loop: loop) { order in
                    guard order == .pause else { return loop.stop() }
                    pace.withLock { $0 = .paused }
                    waitUntil(within: .seconds(240)) { pace.withLock { $0 == .resuming } }
                    pace.withLock { $0 = .running }
                }
                orders.withLock { $0 = box.sender }
                node.start()
                loop.run()
                node.close()
            } catch { fatalError("a test's node does not start: \(error)") }
        }
    }

    deinit { die() }

    /// As if its process had been killed: nothing is released.
    func die() {
        waitUntil { self.orders.withLock { $0 != nil } }
        orders.withLock { $0 }?.send(.stop)
        thread.join()
    }

    /// Stands still, as a machine does that is moved, until it is resumed.
    func pause() {
        orders.withLock { $0 }?.send(.pause)
        waitUntil { self.pace.withLock { $0 == .paused } }
    }

    func resume() { pace.withLock { $0 = .resuming } }

    /// Waits until the node can claim.
    func waitUntilReady() -> Bool {
        waitUntil { self.leases.nodes.contains { $0.id == self.leases.settings.nodeID } }
    }

    func change(_ body: (inout StoreState) -> Void) {
        state.withLock { body(&$0) }
        leases.stateChanged()
    }

    func events(_ name: ParticipantEvent.Name, _ participant: String) -> [ParticipantEvent] {
        history.withLock { writes in
            writes.compactMap { write in
                guard case .event(let event) = write, event.name == name, event.participantID == participant else { return nil }
                return event
            }
        }
    }

    /// Publishes of the history that were closed for others, as participants with generations.
    var closed: [String: UInt64] {
        history.withLock { writes in
            writes.reduce(into: [:]) { closed, write in
                if case .closed(_, _, let participant, let generation, _) = write { closed[participant] = generation }
            }
        }
    }
}

/// A claim that somebody waits for.
final class TestClaim: Sendable {
    let holder: TestHolder
    /// Lives until it has answered, also where optimised code has no more use for it.
    private let node: TestNode
    private let content = Lock<ClaimAnswer?>(nil)

    init(
        _ participant: String, at node: TestNode, stage: String = "one", credential: String = "c", takeOver: Bool = false,
        ingest: String? = nil
    ) {
        (self.node, holder) = (node, TestHolder(node.leases))
        let (content, holder) = (content, holder)
        var grant = PublishGrant(
            participantID: participant, stageARN: Stage.named(stage).arn, stageID: stage, credentialHash: credential)
        grant.ingestConfigurationARN = ingest
        node.leases.claimPublish(grant, protocol: .rtmp, holder: holder, takeOver: takeOver) { answer in
            if case .granted(let lease) = answer { holder.granted(lease) }
            content.withLock { $0 = answer }
        }
    }

    var answer: ClaimAnswer? { content.withLock { $0 } }

    var lease: PublishLease? { if case .granted(let lease) = answer { lease } else { nil } }
    var incumbent: (any LeaseHolder)? { if case .held(let holder) = answer { holder } else { nil } }
    var refusal: Refusal? { if case .refused(let refusal) = answer { refusal } else { nil } }

    /// Claims until the lease is granted: to an impatient client a busy machine may look like a server that is away.
    static func granted(_ participant: String, at node: TestNode) throws -> TestClaim {
        var claim = TestClaim(participant, at: node).settled()
        waitUntil {
            if claim.refusal?.code == .platformAway { claim = TestClaim(participant, at: node).settled() }
            return claim.lease != nil
        }
        guard claim.lease != nil else { throw NotGranted() }
        return claim
    }

    struct NotGranted: Error {}

    /// Waits for the answer.
    func settled() -> TestClaim {
        waitUntil { self.answer != nil }
        return self
    }
}

extension Stage {
    static func named(_ id: String) -> Stage {
        Stage(arn: ResourceName().arn(.stage, id), name: id, createdAt: WallTime(secondsSince1970: 1_800_000_000))
    }
}

extension RedisLimits {
    /// A machine with more to do than it can must not look like a server that is away.
    static let ofBusyMachine: RedisLimits = {
        var limits = RedisLimits()
        (limits.connectTimeout, limits.answerTimeout) = (.seconds(60), .seconds(60))
        return limits
    }()

    /// For tests of silence.
    static let impatient: RedisLimits = {
        var limits = RedisLimits()
        (limits.connectTimeout, limits.answerTimeout, limits.heartbeat) = (.milliseconds(900), .seconds(1), .milliseconds(200))
        return limits
    }()
}
