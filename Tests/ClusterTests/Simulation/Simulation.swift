import Settings
import TestSupport
import Wire

@testable import Cluster

/// A platform in one thread: the real `NodeMachine`s, a model of the scripts, encoders that come, move and come back, and a
/// network that delays, loses and cuts. Everything follows from the seed.
final class Simulation {
    struct Plan {
        var nodes = 50
        var encoders = 2_000
        var seed: UInt64 = 1
        /// Encoders for each stage on the average; more than 12 find some stages full.
        var encodersPerStage = 10
        /// What happens, in seconds from the start.
        var story: [(Happening, Double)] = [
            (.kill, 15), (.cut, 30), (.move, 36), (.heal, 50), (.pause, 58), (.resume, 78),
        ]
        /// How long nodes must be silent to be dead; nil: as long as in the product.
        var deathSilence: Duration?
        /// After how many seconds nothing is left of a dead node; nil: that is not looked at.
        var burial: Int64? = 12
        /// In seconds.
        var length: Int64 = 100
    }

    enum Event {
        case timer(node: Int)
        case arrives(node: Int, ClusterCall, sentAt: Int64)
        case answer(node: Int, ClusterCall, ClusterAnswer?, sentAt: Int64)
        case message(node: Int, NodeMessage)
        case claim(encoder: Int, takesOver: Bool)
        case look(encoder: Int, watch: Int, began: Int64)
        case lookAtJoint(JointWatch)
        case joinedAgain(LeaseKey)
        case abandoned(Holder)
        case fenced(Holder, since: Int64)
        case buried(node: Int)
        case connected(node: Int)
        case disconnected(node: Int)
        case happens(Happening)
    }

    enum Happening {
        case kill, cut, move, heal, pause, resume
        /// One node dies; some stand still for two seconds; the server does for three, and loses its connections or keeps them.
        case death, stall, silence, hold
    }

    /// No value: its machine is large, and a look at one that lies in an array may copy it.
    final class Node {
        var machine: NodeMachine
        var isAlive = true
        /// Its way to the server and to other nodes is cut; encoders reach it.
        var isCut = false
        /// Since it was cut the server has not heard it.
        var isUnheard = false
        /// It stands still until then.
        var stallEnds: Int64 = 0
        /// Since when it has been able to read what the server says; `max` when it is not.
        var readsSince: Int64 = 0
        var timerAt = Int64.max
        /// Encoders by the numbers of their claims.
        var claims: [Int: Int] = [:]
        /// Progress of holders elsewhere; nil when they are gone.
        var watches: [Int: MonotonicTime?] = [:]

        init(_ machine: NodeMachine) { self.machine = machine }
    }

    struct Encoder {
        var key: LeaseKey
        var set: String
        var node: Int
        var isLive = false
        /// It does not come again.
        var hasGone = false
        /// A second one with the credential of the one before.
        var isImpostor = false
        /// It is no encoder but what its node makes of that one and of the other half of a redundant pair, for both.
        var half: Int?
        var liveSince = Int64.max
        /// When its node died, until it is back.
        var lostNode: Int64?
    }

    /// A session of a node that has a lease.
    struct Holder: Hashable, Comparable {
        var node: Int
        var lease: LeaseIdentity

        static func < (left: Holder, right: Holder) -> Bool {
            (left.lease.generation, left.lease.key.participantID, left.node)
                < (right.lease.generation, right.lease.key.participantID, right.node)
        }
    }

    struct Session {
        var encoder: Int?
        /// As the history knows the publish.
        var published: LeaseIdentity
        /// When its encoder went away.
        var silentSince: Int64?
    }

    let plan: Plan
    var random: SplitMix64
    var now: Int64 = 0
    var queue = EventQueue<Event>()
    var server = ModelServer(now: Simulation.epoch)
    var nodes: [Node] = []
    var encoders: [Encoder] = []
    /// What nodes make of encoders that are halves of pairs, by those.
    var joints: [Int: Int] = [:]
    /// The highest generation that each participant has had.
    var generations: [LeaseKey: UInt64] = [:]
    var sessions: [Holder: Session] = [:]
    var holders: [LeaseKey: Set<Holder>] = [:]
    /// Publishes that began in the history and have not ended there.
    var open: Set<LeaseIdentity> = []
    /// Up to which generation those of a participant are over for good in the history.
    var closed: [LeaseKey: UInt64] = [:]
    /// The newest that began, and the one that went on then.
    var newest: [LeaseKey: LeaseIdentity] = [:]
    var overtaken: [LeaseKey: LeaseIdentity] = [:]
    var isPaused = false
    var pausedAt: Int64 = 0
    /// The server has stopped, and its connections hold.
    var isHeld = false
    var stalled: [(node: Int, call: ClusterCall, sentAt: Int64)] = []
    var lastClaim = 0
    var report = SimulationReport()

    static let epoch: Int64 = 1_800_000_000_000
    static let second: Int64 = 1_000_000_000

    init(_ plan: Plan) {
        self.plan = plan
        random = SplitMix64(seed: plan.seed)
        nodes = (0..<plan.nodes).map { index in
            let environment = NodeMachine.Environment(
                makeSessionID: { "st-\(index)" }, wallNow: { WallTime(secondsSince1970: Self.epoch / 1_000) })
            var settings = NodeSettings(nodeID: "n\(index)")
            settings.cluster.deathSilence = plan.deathSilence ?? settings.cluster.deathSilence
            return Node(NodeMachine(settings: settings, environment: environment, now: .zero))
        }
        let stages = max(1, plan.encoders / plan.encodersPerStage)
        for index in 0..<plan.encoders {
            // One in fifty has the key of the one before it; one in ten is the other half of a redundant pair.
            let (isImpostor, isBackup) = (index % 50 == 49, index % 10 == 5)
            let owner = isImpostor ? index - 1 : index
            let stage = "s\(Int.random(in: 0..<stages, using: &random))"
            let former = isImpostor || isBackup ? encoders[index - 1] : nil
            encoders.append(
                Encoder(
                    key: LeaseKey(stageID: former?.key.stageID ?? stage, participantID: "p\(owner)"),
                    set: former?.set ?? "set\(index)", node: index % plan.nodes, isImpostor: isImpostor))
        }
        makeJoints()
    }

    /// Runs to the end of the story; what must not be stands in the report.
    func run() -> SimulationReport {
        for node in nodes.indices { queue.put(.connected(node: node), at: latency()) }
        for encoder in encoders.indices where encoders[encoder].half == nil {
            // Impostors come at the same moment as those whose key they have.
            let moment = encoders[encoder].isImpostor ? 5 * Self.second : within(2, 10)
            queue.put(.claim(encoder: encoder, takesOver: false), at: moment)
            if encoder + 1 < encoders.count, encoders[encoder + 1].isImpostor {
                queue.put(.claim(encoder: encoder, takesOver: false), at: 5 * Self.second)
            }
        }
        for (happening, moment) in plan.story { queue.put(.happens(happening), at: Int64(moment * Double(Self.second))) }
        while let (time, event) = queue.next(), time < plan.length * Self.second {
            now = time
            server.now = Self.epoch + now / 1_000_000
            let stallEnds = node(of: event).map { nodes[$0].stallEnds } ?? 0
            if now < stallEnds { queue.put(event, at: stallEnds) } else { carryOut(event) }
        }
        checkTheEnd()
        report.calls = server.calls
        return report
    }

    private func carryOut(_ event: Event) {
        switch event {
        case .timer(let node): timer(node)
        case .arrives(let node, let call, let sentAt): arrives(node, call, sentAt)
        case .answer(let node, let call, let answer, let sentAt): answered(node, call, answer, sentAt)
        case .message(let node, let message): with(node) { $0.received(message, moment) }
        case .claim(let encoder, let takesOver): claim(encoder, takesOver)
        case .look(let encoder, let watch, let began): look(encoder, watch, began)
        case .lookAtJoint(let watch): look(watch)
        case .joinedAgain(let key): checkJointAgain(key)
        case .abandoned(let holder): if sessions[holder]?.encoder == nil { release(holder) }
        case .fenced(let holder, let since): checkFence(holder, since)
        case .buried(let node): checkGhosts(of: node)
        case .connected(let node): connected(node)
        case .disconnected(let node):
            with(node) { machine in
                machine.disconnected()
                return []
            }
        case .happens(let happening): happen(happening)
        }
    }

    // MARK: - Chance and time

    var moment: MonotonicTime { MonotonicTime(nanoseconds: now) }

    func latency() -> Int64 { now + Int64.random(in: 200_000...2_000_000, using: &random) }

    func within(_ first: Int64, _ last: Int64) -> Int64 {
        Int64.random(in: first * Self.second...last * Self.second, using: &random)
    }

    func chance(of one: Int) -> Bool { Int.random(in: 0..<one, using: &random) == 0 }

    /// A node that lives and reaches the server, as an encoder finds one.
    func someNode() -> Int {
        while true {
            let node = Int.random(in: nodes.indices, using: &random)
            if nodes[node].isAlive && !nodes[node].isCut { return node }
        }
    }
}

/// What came of a simulation.
struct SimulationReport: Equatable {
    var calls = 0
    var granted = 0
    var takenOver = 0
    var refusedFull = 0
    var closed = 0
    var revived = 0
    var surplus = 0
    var killedSessions = 0
    /// Leases of pairs that went to the node of the other half.
    var joinedElsewhere = 0
    /// From a node that had media.
    var joinedInVain = 0
    var flowing = 0
    /// Leases of dead nodes that did not have to end first.
    var takenFromDead = 0
    /// Those of them whose node lived.
    var takenFromLiving = 0
    /// How long encoders were gone whose node died, in nanoseconds.
    var absences: [Int64] = []
    /// What must not be.
    var violations: [String] = []
    /// Of everything that happened, in its order.
    var digest: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func note(_ what: String) {
        for byte in what.utf8 { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01B3 }
    }
}
