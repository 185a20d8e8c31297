import EventLoop
import Wire

/// A TLS handshake under way: its deadline, its place among others, and whether its address may have one at all.
final class TLSHandshakeProgress {
    /// Where the loop has no `HandshakeLimits`, and for handshakes that we begin.
    static let ownTimeout = Duration.seconds(5)
    /// How often a connection whose address has too many asks again.
    static let admissionInterval = Duration.milliseconds(100)

    /// Ciphertext that was read before TLS began.
    var firstBytes: [UInt8] = []
    private var hasBegun = false
    /// Whether we have sent our first flight: what comes after it took a key exchange of the client's own.
    var hasAnswered = false

    private let loop: EventLoop
    private let isServer: Bool
    private let remote: IPAddress
    private let scheduler: HandshakeScheduler
    private let deadline: TimerWatch
    private var retry: TimerWatch?
    private var isAdmitted = false
    private var isOver = false

    init(loop: EventLoop, isServer: Bool, remote: IPAddress, timedOut: @escaping () -> Void) {
        (self.loop, self.isServer, self.remote) = (loop, isServer, remote)
        scheduler = HandshakeScheduler.of(loop)
        let limit = isServer ? scheduler.limits?.timeout : nil
        deadline = loop.schedule(after: limit ?? Self.ownTimeout, timedOut)
    }

    /// Runs a step in its turn, later ones before those of clients that have only said hello. Our own handshakes as a client are
    /// nobody's attack.
    func perform(_ step: @escaping () -> Void) {
        guard isServer else { return step() }
        guard isAdmitted || scheduler.limits?.begin(from: remote, at: loop.now) ?? true else {
            retry = loop.schedule(after: Self.admissionInterval) { [unowned self] in perform(step) }
            return
        }
        isAdmitted = true
        let isAccepted = scheduler.perform(hasAnswered ? .begun : .anonymous, from: remote) { [weak self] in
            if let self, !isOver { step() }
        }
        if !isAccepted { retry = loop.schedule(after: Self.admissionInterval) { [unowned self] in perform(step) } }
    }

    /// What the next step works on: bytes that were read before TLS began, nothing where a client has to say hello first, and nil
    /// where there is something to be read.
    func takeFirstBytes() -> [UInt8]? {
        defer { (firstBytes, hasBegun) = ([], true) }
        return firstBytes.isEmpty && (isServer || hasBegun) ? nil : firstBytes
    }

    /// It is done, or given up.
    func cancel() {
        guard !isOver else { return }
        isOver = true
        deadline.cancel()
        retry?.cancel()
        if isAdmitted { scheduler.limits?.ended(from: remote, at: EventLoop.monotonicNow()) }
    }

    deinit { cancel() }
}
