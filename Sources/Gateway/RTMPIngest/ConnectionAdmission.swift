import EventLoop
public import Sockets
public import Wire

/// Counts the connections of the whole process that have not published yet, and who they come from.
///
/// One is shared by all workers. A connection that publishes leaves the count: a venue with a hundred working encoders behind
/// one address is never throttled.
public final class ConnectionAdmission: Sendable {
    public enum Answer: Sendable, Equatable {
        case admitted
        /// Admitted, but the process is over its limit: the oldest that has not published should go.
        case admittedOverLimit
        case tooManyFromAddress
    }

    private struct Counts {
        var total = 0
        var byteCount = 0
        var byUnit: [IPNetwork: Int] = [:]
    }

    /// What all of them together may make us keep.
    static let maximumByteCount = 64 << 20

    private let counts = Lock(Counts())
    private let maximumCount: Int
    private let maximumPerAddress: Int
    private let trust: AddressTrust?

    /// - Parameter trust: knows the addresses that may have more.
    public init(maximumCount: Int, maximumPerAddress: Int, trust: AddressTrust? = nil) {
        (self.maximumCount, self.maximumPerAddress, self.trust) = (maximumCount, maximumPerAddress, trust)
    }

    /// Connections counted now.
    public var count: Int { counts.withLock { $0.total } }

    public func admit(_ address: IPAddress) -> Answer {
        let unit = IPNetwork(countingUnit: address)
        let maximum = trust?.allowance(maximumPerAddress, for: address, at: EventLoop.monotonicNow()) ?? maximumPerAddress
        return counts.withLock { counts in
            let fromHere = counts.byUnit[unit, default: 0]
            guard fromHere < maximum else { return .tooManyFromAddress }
            counts.byUnit[unit] = fromHere + 1
            counts.total += 1
            return counts.total > maximumCount ? .admittedOverLimit : .admitted
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

    /// An admitted connection publishes, or is gone.
    /// - Parameter kept: what it had in unfinished messages.
    public func leave(_ address: IPAddress, kept: Int = 0) {
        let unit = IPNetwork(countingUnit: address)
        counts.withLock { counts in
            let left = counts.byUnit[unit, default: 1] - 1
            counts.byUnit[unit] = left > 0 ? left : nil
            counts.total -= 1
            counts.byteCount -= kept
        }
    }
}
