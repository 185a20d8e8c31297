import EventLoop
import Glibc
import OpenSSL

extension TCPStream {
    /// For flushing, besides the waiting that was asked for; and for the peer's FIN after ours.
    static let maximumFlushTime = Duration.seconds(5)
    static let maximumLingerTime = Duration.seconds(2)

    /// Sends what waits, then waits a while, then says FIN, then waits for the peer's; `onClosed(.flushed)` follows.
    ///
    /// The pause lets a peer read last words before it sees the end: OBS and librtmp throw away what they did not read before
    /// FIN. Bytes of the peer are read and forgotten until then. The stream lives on without its owner.
    public func closeAfterFlush(lingering pause: Duration = .zero) {
        loop.assertOnLoop()
        guard phase == .open else {
            if phase == .connecting { close() }
            return
        }
        phase = .flushing
        pauseBeforeFIN = pause
        keepAlive = self
        handshake?.cancel()
        handshake = nil
        redelivery = nil
        unconsumed = []
        startTimer(Self.maximumFlushTime) { $0.end(.flushed) }
        if hasPeerFinished { readWatch?.suspend() } else { readWatch?.resume() }
        if pending.isEmpty { flushed() }
    }

    /// Everything is with the kernel: the pause begins.
    func flushed() {
        guard !isFINDue else { return finish() }
        isFINDue = true
        if pauseBeforeFIN == .zero { return sayGoodbye() }
        startTimer(pauseBeforeFIN) { $0.sayGoodbye() }
    }

    /// With TLS the last record says that nothing follows.
    private func sayGoodbye() {
        startTimer(Self.maximumFlushTime) { $0.end(.flushed) }
        if let tls, tls.isHandshakeCompleted {
            tls.close()
            sendOutgoing(of: tls)
        }
        if pending.isEmpty { finish() }
    }

    private func finish() {
        guard phase == .flushing, let descriptor else { return }
        phase = .lingering
        writeWatch = nil
        shutdown(descriptor.number, CInt(SHUT_WR))
        if hasPeerFinished { return endSoon(.flushed) }
        startTimer(Self.maximumLingerTime) { $0.end(.flushed) }
    }

    private func startTimer(_ delay: Duration, _ body: @escaping (TCPStream) -> Void) {
        timer = loop.schedule(after: delay) { [unowned self] in body(self) }
    }

    /// Ends the stream and tells. Only from the loop's own callbacks.
    func end(_ reason: StreamClosure) {
        guard phase != .closed else { return }
        let isClosing = phase == .flushing || phase == .lingering
        phase = .closed
        let alive = keepAlive
        release()
        onClosed(isClosing ? .flushed : reason)
        _ = alive
    }

    /// Ends the stream and tells in the next turn, because whoever called us is in the middle of something.
    func endSoon(_ reason: StreamClosure) {
        guard phase != .closed else { return }
        readWatch?.suspend()
        writeWatch?.suspend()
        startTimer(.zero) { $0.end(reason) }
    }
}
