import EventLoop
public import Wire

/// Counts the connections of a listener in the whole process, and of those that have shown nothing yet who they come from.
///
/// One is shared by all workers. To the limits of addresses and of strangers a connection that publishes (RTMP), is known by its
/// first bytes (shared port) or has shown a check (ICE-TCP) does not count: a venue with a hundred working encoders behind one
/// address is never throttled.
public final class ConnectionAdmission: Sendable {
    public enum Answer: Sendable, Equatable {
        case admitted
        /// Admitted, but the process is over its limit: the oldest should go.
        case admittedOverLimit
        case tooManyFromAddress
    }

    private struct Counts {
        /// Known or not.
        var open = 0
        /// Of them those that have shown nothing yet.
        var strangers = 0
        var byteCount = 0
        var shares = AddressShares()
    }

    /// What all of them together may make us keep.
    static let maximumByteCount = 64 << 20

    private let counts = Lock(Counts())
    private let maximumOpen: Int
    private let maximumCount: Int
    private let maximumPerAddress: Int
    private let trust: AddressTrust?

    /// - Parameters:
    ///   - maximumOpen: of all connections, known or not.
    ///   - maximumCount: of those that have shown nothing yet.
    ///   - maximumPerAddress: of those, from one address.
    ///   - trust: knows the addresses that may have more.
    public init(maximumOpen: Int = .max, maximumCount: Int, maximumPerAddress: Int, trust: AddressTrust? = nil) {
        (self.maximumOpen, self.maximumCount) = (maximumOpen, maximumCount)
        (self.maximumPerAddress, self.trust) = (maximumPerAddress, trust)
    }

    /// Admitted connections that have shown nothing yet.
    public var count: Int { counts.withLock { $0.strangers } }

    /// One more connection is there; `closed` must follow.
    /// - Returns: false when that is one too many: another one has to go.
    public func opened() -> Bool {
        counts.withLock { counts in
            counts.open += 1
            return counts.open <= maximumOpen
        }
    }

    /// A connection is gone.
    public func closed() { counts.withLock { $0.open -= 1 } }

    public func admit(_ address: IPAddress) -> Answer {
        let maximum = trust?.allowance(maximumPerAddress, for: address, at: EventLoop.monotonicNow()) ?? maximumPerAddress
        return counts.withLock { counts in
            guard counts.shares.take(address, limit: maximum) else { return .tooManyFromAddress }
            counts.strangers += 1
            return counts.strangers > maximumCount ? .admittedOverLimit : .admitted
        }
    }

    /// An admitted connection keeps more (or less) in unfinished messages than before.
    /// - Returns: false when all together keep too much: the oldest should go.
    public func keeps(_ change: Int) -> Bool {
        counts.withLock { counts in
            counts.byteCount += change
            return counts.byteCount <= Self.maximumByteCount
        }
    }

    /// An admitted connection counts no longer, or is gone.
    /// - Parameter kept: what it had in unfinished messages.
    public func leave(_ address: IPAddress, kept: Int = 0) {
        counts.withLock { counts in
            counts.shares.giveBack(address)
            counts.strangers -= 1
            counts.byteCount -= kept
        }
    }
}
