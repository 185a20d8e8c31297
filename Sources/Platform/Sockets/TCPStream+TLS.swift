import EventLoop
public import OpenSSL
import Wire

extension TCPStream {
    /// Speaks TLS from here on, as server or client as the context is. Allowed inside `onBytes`: what it then leaves
    /// unconsumed is the beginning of TLS. A server's handshake waits for its turn in the loop's `HandshakeScheduler`.
    public func startTLS(_ context: TLSContext, serverName: String? = nil) {
        loop.assertOnLoop()
        precondition(tls == nil, "TLS starts once")
        guard phase == .open else { return }
        do {
            let connection = try TLSConnection(context, serverName: serverName)
            tls = connection
            handshake = TLSHandshakeProgress(loop: loop, isServer: context.isServer, remote: remoteAddress.ip) {
                [unowned self] in end(.tlsHandshakeTimedOut)
            }
            // Inside `onBytes` nothing is kept yet: `deliver` goes on with what is left.
            let first = unconsumed
            unconsumed = []
            if !first.isEmpty || !context.isServer { unsafe first.withUnsafeBytes { unsafe decryptFirst($0) } }
        } catch {
            endSoon(.tlsFailed(error))
        }
    }

    /// Bytes that were read before TLS began.
    func decryptFirst(_ ciphertext: UnsafeRawBufferPointer) {
        // They may lie in the window, where the plaintext will go.
        handshake?.firstBytes = unsafe [UInt8](ciphertext)
        stepHandshake()
    }

    /// Some of the handshake's bytes are here: use them when it is this handshake's turn, and leave them unread until then.
    func stepHandshake() {
        guard let handshake else { return }
        readWatch?.suspend()
        handshake.perform { [weak self] in self?.takeTurn(in: handshake) }
    }

    private func takeTurn(in handshake: TLSHandshakeProgress) {
        let first = handshake.firstBytes
        handshake.firstBytes = []
        if first.isEmpty, handshake.isServer || handshake.hasBegun {
            readTLS()
        } else {
            unsafe first.withUnsafeBytes { unsafe decrypt($0) }
        }
        handshake.hasBegun = true
        if phase == .open { resumeWatching() }
    }

    func readTLS() {
        let free = unsafe UnsafeMutableRawBufferPointer(rebasing: buffers.ciphertext.prefix(StreamBuffers.readBytes))
        guard let count = unsafe receive(into: free) else { return }
        unsafe decrypt(UnsafeRawBufferPointer(rebasing: free[..<count]))
    }

    private func decrypt(_ ciphertext: UnsafeRawBufferPointer) {
        guard let tls else { return }
        unsafe tls.receive(ciphertext)
        do {
            while phase == .open {
                let kept = isReadingPaused ? 0 : unconsumed.count
                let free = unsafe UnsafeMutableRawBufferPointer(rebasing: buffers.window[kept...])
                let event = unsafe try tls.advance(into: free)
                sendOutgoing(of: tls)
                switch event {
                case .needsMore: return
                case .handshakeCompleted: handshakeCompleted()
                case .plaintext(let count): unsafe take(UnsafeRawBufferPointer(rebasing: free[..<count]), behind: kept)
                case .closedByPeer: return peerFinished()
                }
            }
        } catch {
            sendOutgoing(of: tls)  // the alert
            end(.tlsFailed(error))
        }
    }

    private func take(_ plaintext: UnsafeRawBufferPointer, behind kept: Int) {
        // Paused while this ciphertext was on its way: there is no un-reading it.
        if isReadingPaused { return unsafe unconsumed.append(contentsOf: plaintext) }
        unsafe unconsumed.withUnsafeBytes { unsafe buffers.window.copyMemory(from: $0) }
        unconsumed = []
        unsafe deliver(UnsafeRawBufferPointer(rebasing: buffers.window[..<(kept + plaintext.count)]))
    }

    private func handshakeCompleted() {
        handshake?.completed()
        handshake = nil
        let waiting = plaintextInWaiting
        plaintextInWaiting = []
        write(waiting)
        onOpen()
    }

    func encrypt(_ plaintext: UnsafeRawBufferPointer, with tls: TLSConnection) {
        do {
            unsafe try tls.write(plaintext)
            sendOutgoing(of: tls)
        } catch {
            endSoon(.tlsFailed(error))
        }
    }

    func sendOutgoing(of tls: TLSConnection) {
        guard tls.hasOutgoing, phase != .closed else { return }
        handshake?.hasAnswered = true
        unsafe tls.takeOutgoing().withUnsafeBytes { unsafe send($0) }
    }
}
