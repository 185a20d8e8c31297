import EventLoop

/// Refuses in the next turn what cannot be sent, so that no reply comes from inside the call that asks for it.
final class PromptRefusals {
    private let loop: EventLoop
    private var waiting: [() -> Void] = []
    private var timer: TimerWatch?

    init(loop: EventLoop) { self.loop = loop }

    func refuse(_ commands: [RedisCommand], with error: RedisError, _ replies: @escaping ([RedisReply]) -> Void) {
        waiting.append { replies(commands.map { _ in .failure(error) }) }
        // Holds this object: whoever refused may be gone by then, and every reply is called all the same.
        timer = timer ?? loop.schedule(after: .zero) { [self] in tell() }
    }

    private func tell() {
        let due = waiting
        (waiting, timer) = ([], nil)
        for tell in due { tell() }
    }
}
