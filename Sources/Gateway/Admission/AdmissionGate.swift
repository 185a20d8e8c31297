public import Refusals
import Synchronization

/// Stands before the authorizer: refuses new publishes while the node drains or is full, before any credential is looked at.
///
/// Live publishes are never touched by it. Counts those it let in, so that a node's limit holds over RTMP and WHIP together.
public final class AdmissionGate: Authorizer {
    private let authorizer: any Authorizer
    private let closed = Atomic<Int>(0)
    private let live = Atomic<Int>(0)
    private let maximumPublishes = Atomic<Int>(.max)

    public init(before authorizer: any Authorizer) { self.authorizer = authorizer }

    /// Why new publishes are refused now; nil lets them in.
    public var closure: Closure? {
        get { Closure(rawValue: closed.load(ordering: .relaxed)) }
        set { closed.store(newValue?.rawValue ?? 0, ordering: .relaxed) }
    }

    public enum Closure: Int, Sendable {
        case draining = 1
        case overloaded = 2

        var code: RefusalCode { self == .draining ? .draining : .overloaded }
    }

    /// The greatest number of live publishes on this node.
    public func limitPublishes(to count: Int) { maximumPublishes.store(count, ordering: .relaxed) }

    public var livePublishes: Int { live.load(ordering: .relaxed) }
    public func publishBegan() { live.add(1, ordering: .relaxed) }
    public func publishEnded() { live.subtract(1, ordering: .relaxed) }

    public func authorize(_ request: PublishRequest, reply: @escaping @Sendable (Result<PublishGrant, Refusal>) -> Void) {
        if let closure { return reply(.failure(Refusal(closure.code))) }
        guard live.load(ordering: .relaxed) < maximumPublishes.load(ordering: .relaxed) else {
            return reply(.failure(Refusal(.overloaded)))
        }
        authorizer.authorize(request, reply: reply)
    }
}
