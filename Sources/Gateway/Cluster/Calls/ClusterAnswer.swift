/// What the server answers to a `ClusterCall`.
package enum ClusterAnswer: Equatable, Sendable {
    case claimed(ClaimAnswer)
    /// In the order of the leases that were asked for.
    case renewed([Renewal])
    case ended([RemoteLease])
    case swept(left: Int, [EndedLease])
    case idle(Idleness)
    case looked(StageView)
    case names([String])
    case nodes([String: String])
    /// Carried out, and nothing that matters is answered.
    case done

    package enum ClaimAnswer: Equatable, Sendable {
        /// - Parameter from: whose lease it was.
        case granted(generation: UInt64, SharedSession, from: Displaced?)
        case held(by: RemoteLease, remaining: Duration)
        case full
        /// Somebody unknown may hold it.
        case wait
    }

    package struct Displaced: Equatable, Sendable {
        package var node: String
        package var lease: EndedLease
    }

    package enum Renewal: Equatable, Sendable {
        case ok
        case lost(to: String, generation: UInt64)
        case end(LeaseEnding)
        /// The history has been told that it left: it goes on under this generation.
        case revived(generation: UInt64)
    }

    package enum Idleness: Equatable, Sendable {
        case live
        case none
        case wait(Duration)
        case ended(sessionID: String, [EndedLease])
    }

    package struct StageView: Equatable, Sendable {
        package var session: SharedSession?
        package var isRecorded: Bool
        package var participants: Set<String>
    }
}

/// A lease and the node that has it.
package struct RemoteLease: Hashable, Sendable {
    package var node: String
    package var lease: LeaseIdentity

    package init(node: String, _ lease: LeaseIdentity) { (self.node, self.lease) = (node, lease) }
}
