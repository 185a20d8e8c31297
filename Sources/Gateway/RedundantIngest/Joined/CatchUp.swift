import EventLoop
import Monitoring
import Wire

/// A switch under way: the source brings what was kept of it, and the switch is told of once the stage has all of that. Confined.
final class CatchUp {
    let source: EncoderSource
    private let output: JoinedOutput
    /// The encoder that was the source.
    private let former: Int?
    private let reason: SourceChoice.Reason
    /// When something of that one was sent last; nil where a stream begins.
    private let since: MonotonicTime?
    private let loop: EventLoop
    /// Called once.
    private let onEnd: (SourceSwitch, SourceChoice.Reason) -> Void
    private var timer: TimerWatch?

    init(
        of source: EncoderSource, after former: Int?, because reason: SourceChoice.Reason, to output: JoinedOutput,
        _ loop: EventLoop, onEnd: @escaping (SourceSwitch, SourceChoice.Reason) -> Void
    ) {
        (self.source, self.former, self.reason, self.output) = (source, former, reason, output)
        (self.loop, self.onEnd) = (loop, onEnd)
        since = output.progress
    }

    /// The output goes on with the source from now on.
    func begin(at now: MonotonicTime) {
        output.begin(source)
        source.begin(at: now) { output.reaches($0) }
        // Nobody has anything yet of a stream that begins.
        if since == nil { source.hurry() }
        timer = loop.schedule(after: Backlog.stepInterval, repeating: Backlog.stepInterval) { [unowned self] in step() }
        step()
    }

    /// Nothing more comes of the source: all that is left goes at once.
    func hurry() {
        source.hurry()
        step()
    }

    /// Sends what is due.
    private func step() {
        let now = loop.now
        source.sendBacklog(to: output, at: now, beginsStream: since == nil)
        if !source.isCatchingUp { finish(at: now) }
    }

    /// It is over, whatever is left.
    func finish(at now: MonotonicTime) {
        timer = nil
        let switched = SourceSwitch(
            time: EventLoop.wallNow(), from: former, to: source.encoder, reason: reason.rawValue, gap: since.map { now - $0 })
        onEnd(switched, reason)
    }
}
