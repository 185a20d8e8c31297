import EventLoop
import Glibc

extension TCPStream {
    func watchReading() {
        guard let descriptor else { return }
        readWatch = loop.watch(descriptor: descriptor.number, for: .read) { [unowned self] in becameReadable() }
    }

    func resumeWatching() {
        if !isReadingPaused, !hasPeerFinished { readWatch?.resume() }
    }

    private func becameReadable() {
        switch phase {
        case .open:
            if tls == nil { return readPlain() }
            if handshake == nil { return readTLS() }
            stepHandshake()
        case .flushing, .lingering: discard()
        case .connecting, .closed: break
        }
    }

    private func readPlain() {
        let kept = unconsumed.count
        let free = unsafe UnsafeMutableRawBufferPointer(rebasing: buffers.window[kept...].prefix(StreamBuffers.readBytes))
        guard let count = unsafe receive(into: free) else { return }
        if kept > 0 {
            unsafe unconsumed.withUnsafeBytes { unsafe buffers.window.copyMemory(from: $0) }
            unconsumed = []
        }
        unsafe deliver(UnsafeRawBufferPointer(rebasing: buffers.window[..<(kept + count)]))
    }

    /// Reads once. Nil when there is nothing, or when the stream has come to an end, which is then dealt with.
    func receive(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
        guard let descriptor else { return nil }
        let count = unsafe recv(descriptor.number, buffer.baseAddress, buffer.count, 0)
        if count > 0 {
            if count == buffer.count { loop.leftMore() }
            return count
        }
        if count == 0 {
            peerFinished()
        } else if errno != EAGAIN && errno != EINTR {
            end(.broken(errno))
        }
        return nil
    }

    func peerFinished() {
        if let writeFault { return end(.broken(writeFault)) }
        // A peer that only listens any more still gets what was written for it.
        guard phase == .open ? onPeerFinished != nil : phase == .flushing && !pending.isEmpty else { return end(.peerFinished) }
        hasPeerFinished = true
        readWatch?.suspend()
        if phase == .open { onPeerFinished?() }
    }

    /// Gives bytes to the parser, again and again while it makes progress, and keeps what it leaves.
    func deliver(_ bytes: UnsafeRawBufferPointer) {
        var rest = unsafe bytes
        let wasTLS = isTLS
        while unsafe !rest.isEmpty, !isReadingPaused {
            let consumed = unsafe onBytes(rest)
            precondition((0...rest.count).contains(consumed), "a parser consumed what it was not given")
            guard phase == .open else { return }
            unsafe rest = UnsafeRawBufferPointer(rebasing: rest[consumed...])
            if isTLS != wasTLS { return unsafe decryptFirst(rest) }
            if consumed == 0 { break }
        }
        // Whoever calls has emptied it.
        if unsafe rest.isEmpty { return }
        unsafe unconsumed = [UInt8](rest)
        if !isReadingPaused, unconsumed.count > Self.maximumUnconsumedBytes { end(.tooMuchUnconsumed) }
    }

    /// Delivers what was kept while reading was paused.
    func redeliver() {
        guard phase == .open, !isReadingPaused else { return }
        let kept = unconsumed
        unconsumed = []
        unsafe kept.withUnsafeBytes { unsafe deliver($0) }
        if phase == .open { resumeWatching() }
    }

    /// Reads and forgets, so that the peer's bytes do not turn our FIN into a reset that takes our last words with it.
    private func discard() {
        _ = unsafe receive(into: buffers.ciphertext)
    }
}
