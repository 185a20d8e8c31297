/// How busy a loop was, and how late: the raw numbers behind its metrics.
public struct LoopStatistics: Equatable, Sendable {
    /// Times the loop woke up.
    public var turns = 0
    /// Time between waking up and waiting again, summed.
    public var busy = Duration.zero
    /// CPU time of the thread in those turns; measured only where the loop was told to (`measureTurnCPU`).
    public var cpu = Duration.zero
    /// The most that one turn took of it.
    public var longestTurnCPU = Duration.zero
    /// The longest that a timer fired after its deadline: more than some 0.1 ms is load.
    public var longestLag = Duration.zero

    mutating func record(turn duration: Duration) {
        turns += 1
        busy += duration
    }

    mutating func record(cpu duration: Duration) {
        cpu += duration
        longestTurnCPU = max(longestTurnCPU, duration)
    }

    mutating func record(lag: Duration) { longestLag = max(longestLag, lag) }
}
