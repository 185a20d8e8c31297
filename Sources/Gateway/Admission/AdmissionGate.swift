public import Refusals
import Synchronization

/// Stands before the authorizer: refuses new publishes while the node drains, is full or has no router to send them to, before
/// any credential is looked at.
///
/// It never touches live publishes. It counts those that it let in from their grants on (`PublishPlace`), so that a node's limit
/// holds for RTMP and WHIP together, even in a rush.
public final class AdmissionGate: Authorizer {
    private let authorizer: any Authorizer
    private let isOutOfReach: @Sendable (_ stageID: String) -> Bool
    private let closures = Atomic<Int>(0)
    private let leaving = Atomic<Bool>(false)
    private let live = Atomic<Int>(0)
    private let starting = Atomic<Int>(0)
    private let predecessors = Atomic<Int>(0)
    private let maximum = Atomic<Int>(.max)
    private let takesTLSAlone = Atomic<Bool>(false)

    /// - Parameter isOutOfReach: whether this node alone cannot send to the stage's router (docs/design.md 6.4); asked on
    ///   any thread.
    public init(
        before authorizer: any Authorizer, isOutOfReach: @escaping @Sendable (_ stageID: String) -> Bool = { _ in false }
    ) {
        (self.authorizer, self.isOutOfReach) = (authorizer, isOutOfReach)
    }

    /// Why new publishes are refused now; nil lets them in. Draining weighs most.
    public var closure: Closure? {
        let closures = closures.load(ordering: .relaxed)
        return Closure.allCases.first { closures & $0.rawValue != 0 }
    }

    /// Closes for one reason, or opens as far as that reason goes.
    public func setClosed(_ isClosed: Bool, because closure: Closure) {
        if isClosed {
            closures.bitwiseOr(closure.rawValue, ordering: .relaxed)
        } else {
            closures.bitwiseAnd(~closure.rawValue, ordering: .relaxed)
        }
    }

    /// A reason to refuse all new publishes, the weightiest first.
    public enum Closure: Int, Sendable, CaseIterable {
        /// The node drains: what is live goes on.
        case draining = 1
        /// The machine has too much to do.
        case overloaded = 2
        /// No stage router is alive (docs/design.md 6.4).
        case noRouter = 4

        var code: RefusalCode {
            switch self {
            case .draining: .draining
            case .overloaded: .overloaded
            case .noRouter: .noRouter
            }
        }
    }

    /// Whether a publish that comes now is let in, if its credential is good.
    public var takesPublishes: Bool { closure == nil && !isFull }

    /// Whether new publishes are refused for that reason now. A node that is full is overloaded, whatever its machine could do,
    /// and whichever router is away.
    public func isClosed(because reason: Closure) -> Bool {
        closure == reason || reason == .overloaded && closure != .draining && isFull
    }

    private var isFull: Bool { !hasRoom(beside: startingPublishes) }

    /// - Parameter starting: read before the number of live publishes: who goes live in between is counted twice, not left out.
    private func hasRoom(beside starting: Int) -> Bool {
        starting + livePublishes + predecessorPublishes < maximumPublishes
    }

    /// The node is about to drain: not ready for new traffic, though it still takes what comes.
    public var isLeaving: Bool {
        get { leaving.load(ordering: .relaxed) }
        set { leaving.store(newValue, ordering: .relaxed) }
    }

    /// Plain RTMP is refused whatever a stream key's ingest configuration allows.
    public var requiresTLS: Bool {
        get { takesTLSAlone.load(ordering: .relaxed) }
        set { takesTLSAlone.store(newValue, ordering: .relaxed) }
    }

    /// The greatest number of live publishes on this node.
    public var maximumPublishes: Int {
        get { maximum.load(ordering: .relaxed) }
        set { maximum.store(newValue, ordering: .relaxed) }
    }

    /// Live publishes of the process before this one, which count toward the node's limit.
    public var predecessorPublishes: Int {
        get { predecessors.load(ordering: .relaxed) }
        set { predecessors.store(newValue, ordering: .relaxed) }
    }

    /// Publishes that have a grant, and are neither live nor over.
    public var startingPublishes: Int { starting.load(ordering: .acquiring) }

    /// Takes a place for a publish that has its grant; `PublishPlace` gives it back.
    /// - Returns: false, with none taken, where that would be too many.
    func takePlace() -> Bool {
        if hasRoom(beside: starting.add(1, ordering: .acquiringAndReleasing).oldValue) { return true }
        givePlaceBack()
        return false
    }

    func givePlaceBack() { starting.subtract(1, ordering: .acquiringAndReleasing) }

    /// Live publishes of this process, as their workers tell by the next two.
    public var livePublishes: Int { live.load(ordering: .relaxed) }
    public func publishBegan() { live.add(1, ordering: .relaxed) }
    public func publishEnded() { live.subtract(1, ordering: .relaxed) }

    public func authorize(_ request: PublishRequest, reply: @escaping @Sendable (Result<PublishGrant, Refusal>) -> Void) {
        if let closure { return reply(.failure(Refusal(closure.code))) }
        if request.ingestProtocol == .rtmp, requiresTLS {
            return reply(.failure(Refusal(.insecureProtocol, sentence: "This gateway takes RTMPS only: use the rtmps:// URL.")))
        }
        guard !isFull else { return reply(.failure(Refusal(.overloaded))) }
        authorizer.authorize(request) { [self] result in
            guard case .success(let grant) = result else { return reply(result) }
            if let objection = objection(to: grant) { return reply(.failure(objection)) }
            reply(request.place.take(at: self) ? result : .failure(Refusal(.overloaded)))
        }
    }

    /// A service that is asked may take seconds: the node may drain by now.
    private func objection(to grant: PublishGrant) -> Refusal? {
        if let closure { return Refusal(closure.code) }
        return isOutOfReach(grant.stageID) ? Refusal(.noRouter, sentence: Self.outOfReach) : nil
    }

    private static let outOfReach = "This gateway cannot reach the stage's router: try again, another gateway may answer."
}
