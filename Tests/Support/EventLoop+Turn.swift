public import EventLoop
import Testing

extension EventLoop {
    /// Runs `body` as part of a turn, and until that has ended.
    public func inTurn(_ body: @escaping () -> Void) {
        var isDone = false
        let turn = schedule(after: .zero) {
            body()
            isDone = true
        }
        #expect(run(until: { isDone }, within: .seconds(120)))
        turn.cancel()
    }
}
