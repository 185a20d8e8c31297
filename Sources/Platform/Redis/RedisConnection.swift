import EventLoop
import OpenSSL
public import Sockets
import Wire

/// One connection to one server: commands in, answers out, in order (RESP2). It greets nobody and does not come back.
///
/// hiredis reads the answers; its own connections are not used: 0.14 has no TLS and no time limits, and grows its output without
/// bound. `TCPStream` has them, on the same loop.
///
/// Every reply is called exactly once: with the answer, or with `.lost` when the connection ends first, or with `.away` or
/// `.pipelineFull` for what was not sent. Never from inside `send`. Dropping a connection is as good as `close()`.
final class RedisConnection {
    /// The connection stands, TLS included.
    var onOpen: () -> Void = {}
    /// Called once, after every reply; not after `close()`.
    var onClosed: (RedisConnectionEnd) -> Void = { _ in }
    /// Messages of the channels that were subscribed to. Set it before the first SUBSCRIBE, which names one channel each.
    var onMessage: ((_ channel: String, _ payload: [UInt8]) -> Void)?

    let remoteAddress: SocketAddress
    /// Commands sent and not answered.
    var unansweredCount: Int { unanswered.count }

    private let loop: EventLoop
    private let limits: RedisLimits
    private let stream: TCPStream
    private let reader: ReplyReader
    private var unanswered = UnansweredCommands()
    private var watchdog: TimerWatch?
    /// The watchdog has found the server late once: what came in while this loop itself stood still is read first.
    private var isSecondLook = false
    private var isEnded = false
    private let refusals: PromptRefusals
    private static let secondLook = Duration.milliseconds(20)

    /// - Parameter serverName: whom TLS asks for; the address where it is nil.
    init(
        loop: EventLoop, address: SocketAddress, tls: TLSContext?, serverName: String?, limits: RedisLimits
    ) throws(SystemError) {
        (self.loop, self.limits, remoteAddress) = (loop, limits, address)
        stream = try TCPStream(loop: loop, connectingTo: address, tls: tls, serverName: serverName)
        stream.maximumPendingWriteBytes = limits.maximumUnsentBytes
        reader = ReplyReader(limits: limits)
        refusals = PromptRefusals(loop: loop)
        stream.onOpen = { [unowned self] in onOpen() }
        stream.onClosed = { [unowned self] in end(.closed($0)) }
        unsafe stream.onBytes = { [unowned self] bytes in
            unsafe take(bytes)
            return bytes.count
        }
        watchdog = loop.schedule(after: limits.answerTimeout) { [unowned self] in lookAtTheClock() }
    }

    deinit { close() }

    func send(_ command: RedisCommand, reply: @escaping (RedisReply) -> Void) {
        send([command]) { reply($0[0]) }
    }

    /// Sends commands back to back: nothing of others comes between them. `replies` gets as many answers, in order.
    func send(_ commands: [RedisCommand], replies: @escaping ([RedisReply]) -> Void) {
        loop.assertOnLoop()
        precondition(!commands.isEmpty, "a batch has a command")
        if isEnded { return refusals.refuse(commands, with: .away, replies) }
        if unanswered.count + commands.count > limits.maximumPipelinedCommands {
            return refusals.refuse(commands, with: .pipelineFull, replies)
        }
        if unanswered.isEmpty { watchdog?.rearm(after: limits.answerTimeout) }
        let answers = AnswerCollector(count: commands.count, replies)
        var bytes: [UInt8] = []
        for (index, command) in commands.enumerated() {
            command.append(to: &bytes)
            unanswered.append(sentAt: loop.now) { answers.add($0, at: index) }
        }
        stream.write(bytes)
    }

    /// Ends the connection; replies still awaited are called with `.lost` from inside this call.
    func close() {
        guard !isEnded else { return }
        onClosed = { _ in }
        end(.closed(.flushed))
    }
}

// MARK: - Answers

extension RedisConnection {
    private func take(_ bytes: UnsafeRawBufferPointer) {
        unsafe reader.feed(bytes)
        do {
            while !isEnded, let value = try reader.next() { try take(value) }
        } catch {
            end(.malformed(error))
        }
    }

    private func take(_ value: RedisValue) throws(RedisProtocolError) {
        if let onMessage, let parts = value.elements, parts.count == 3, parts[0].text == "message" {
            guard let channel = parts[1].text, let payload = parts[2].bytes else { throw .unasked }
            return onMessage(channel, payload)
        }
        guard let reply = unanswered.popFirst() else { throw .unasked }
        isSecondLook = false
        if case .error(let refusal) = value { reply(.failure(.refused(refusal))) } else { reply(.success(value)) }
    }

    /// Looks at the oldest command only: it is the first to be late.
    private func lookAtTheClock() {
        guard let oldest = unanswered.oldest else { return }
        let wait = limits.answerTimeout - (loop.now - oldest)
        if wait > .zero {
            watchdog?.rearm(after: wait)
        } else if isSecondLook {
            end(.silent)
        } else {
            isSecondLook = true
            watchdog?.rearm(after: Self.secondLook)
        }
    }

    private func end(_ reason: RedisConnectionEnd) {
        guard !isEnded else { return }
        isEnded = true
        watchdog?.cancel()
        stream.close()
        while let reply = unanswered.popFirst() { reply(.failure(.lost)) }
        onClosed(reason)
    }
}

/// Why a connection to a server ended.
public enum RedisConnectionEnd: Error, Equatable, Sendable {
    case closed(StreamClosure)
    /// A command had no answer in `RedisLimits.answerTimeout`.
    case silent
    case malformed(RedisProtocolError)
}

/// Commands sent and not answered, oldest first: answers come in the order of the commands.
private struct UnansweredCommands {
    private struct Entry {
        let sentAt: MonotonicTime
        let reply: (RedisReply) -> Void
    }

    private var entries: [Entry?] = []
    private var head = 0

    var count: Int { entries.count - head }
    var isEmpty: Bool { count == 0 }
    /// When the oldest was sent.
    var oldest: MonotonicTime? { isEmpty ? nil : entries[head]?.sentAt }

    mutating func append(sentAt: MonotonicTime, _ reply: @escaping (RedisReply) -> Void) {
        // Moves what is left to the front only when that is less than what has gone.
        if head > entries.count / 2 {
            entries.removeSubrange(..<head)
            head = 0
        }
        entries.append(Entry(sentAt: sentAt, reply: reply))
    }

    mutating func popFirst() -> ((RedisReply) -> Void)? {
        guard head < entries.count else { return nil }
        let reply = entries[head]?.reply
        entries[head] = nil
        head += 1
        if head == entries.count { (entries, head) = ([], 0) }
        return reply
    }
}

/// Gathers the answers of several commands, in the order of the commands.
private final class AnswerCollector {
    private var answers: [RedisReply?]
    private var missing: Int
    private let replies: ([RedisReply]) -> Void

    init(count: Int, _ replies: @escaping ([RedisReply]) -> Void) {
        (answers, missing, self.replies) = ([RedisReply?](repeating: nil, count: count), count, replies)
    }

    func add(_ answer: RedisReply, at index: Int) {
        answers[index] = answer
        missing -= 1
        if missing == 0 { replies(answers.compactMap(\.self)) }
    }
}
