import GRDB

/// Writes that the history's file has not taken yet, oldest first.
///
/// Pure: it is given a closure that writes. What the file does not take now waits, within a bound; what it would never take is
/// found by writing it alone, so that it holds up nothing else.
struct HistoryBacklog {
    /// Some 20 MB, or the whole stories of 3,000 publishes.
    static let maximumWaiting = 20_000
    /// Writes in one transaction, as many as a full disk has us do in vain.
    static let page = 1_000

    /// What an attempt came to.
    struct Outcome {
        var events: [ParticipantEvent] = []
        /// Why the rest still waits; nil when nothing does.
        var fault: String?
        /// Writes that the file will never take, and why.
        var refused = 0
        var refusal = ""
    }

    private(set) var waiting: [HistoryWrite] = []

    mutating func add(_ writes: [HistoryWrite]) {
        for write in writes {
            // A cluster takes the same again for as long as the queue cannot be shortened: the last word says it all.
            if write.isWordOfCluster, waiting.last?.isWordOfCluster == true { waiting.removeLast() }
            waiting.append(write)
        }
    }

    /// Appends what waits, until the file takes no more.
    mutating func write(_ append: ([HistoryWrite]) throws -> [ParticipantEvent]) -> Outcome {
        var outcome = Outcome()
        var (done, aloneUntil) = (0, 0)
        while done < waiting.count, outcome.fault == nil {
            let end = done < aloneUntil ? done + 1 : min(done + Self.page, waiting.count)
            do {
                outcome.events += try append(Array(waiting[done..<end]))
                done = end
            } catch {
                if !Self.isOfWrite(error) {
                    outcome.fault = String(describing: error)
                } else if end - done > 1 {
                    aloneUntil = end
                } else {
                    (outcome.refused, outcome.refusal) = (outcome.refused + 1, String(describing: error))
                    done = end
                }
            }
        }
        waiting.removeFirst(done)
        return outcome
    }

    /// Drops what is too much: points of metrics first, then the newest writes.
    /// - Returns: how many.
    mutating func bound() -> Int {
        let count = waiting.count
        guard count > Self.maximumWaiting else { return 0 }
        waiting.removeAll { if case .metrics = $0 { true } else { false } }
        waiting.removeLast(max(0, waiting.count - Self.maximumWaiting))
        return count - waiting.count
    }

    mutating func takeAll() -> [HistoryWrite] {
        defer { waiting = [] }
        return waiting
    }

    /// Whether the write is at fault, not the file: full, locked, not readable or closed it may be fine later.
    private static func isOfWrite(_ error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return true }
        let codes: [ResultCode] = [.SQLITE_ERROR, .SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_TOOBIG, .SQLITE_RANGE]
        return codes.contains(error.resultCode)
    }
}

extension HistoryWrite {
    /// That the cluster has taken the queue, and nothing beside.
    fileprivate var isWordOfCluster: Bool {
        if case .forwarded(_, let taken) = self { taken.isEmpty } else { false }
    }
}

/// How many writes the history's file has not taken.
public struct HistoryStanding: Equatable, Sendable {
    /// Writes that wait.
    public var waiting = 0
    /// Writes that are in no history, since the start.
    public var lost = 0
}
