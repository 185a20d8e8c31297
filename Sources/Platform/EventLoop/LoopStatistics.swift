/// How busy a loop was, and how late: the raw numbers behind its metrics.
public struct LoopStatistics: Equatable, Sendable {
    public var turns = 0
    /// Time between waking up and waiting again, summed.
    public var busy = Duration.zero
    public var longestTurn = Duration.zero
    /// CPU time of the thread in those turns; measured only when the loop's `measuresTurnCPU` is on.
    public var cpu = Duration.zero
    public var longestTurnCPU = Duration.zero
    /// The longest that a timer fired after its deadline: more than some 0.1 ms is load.
    public var longestLag = Duration.zero

    mutating func record(turn duration: Duration) {
        turns += 1
        busy += duration
        longestTurn = max(longestTurn, duration)
    }

    mutating func record(cpu duration: Duration) {
        cpu += duration
        longestTurnCPU = max(longestTurnCPU, duration)
    }

    mutating func record(lag: Duration) { longestLag = max(longestLag, lag) }
}
