import EventLoop
import Glibc

extension TCPStream {
    /// Sends bytes, at once as far as the kernel takes them; the rest waits, up to `maximumPendingWriteBytes`.
    ///
    /// After the stream has ended it does nothing: whoever writes need not know yet.
    public func write(_ bytes: UnsafeRawBufferPointer) {
        loop.assertOnLoop()
        guard phase == .open || phase == .connecting, unsafe !bytes.isEmpty else { return }
        if phase == .connecting, tlsOnceConnected != nil { return unsafe plaintextInWaiting.append(contentsOf: bytes) }
        if let tls {
            guard handshake == nil else { return unsafe plaintextInWaiting.append(contentsOf: bytes) }
            return unsafe encrypt(bytes, with: tls)
        }
        unsafe send(bytes)
    }

    public func write(_ bytes: [UInt8]) {
        unsafe bytes.withUnsafeBytes { unsafe write($0) }
    }

    /// Sends what goes on the wire.
    func send(_ bytes: UnsafeRawBufferPointer) {
        guard writeFault == nil else { return }
        var rest = unsafe bytes
        if pending.isEmpty, phase != .connecting {
            guard let count = unsafe transmit(bytes) else { return }
            unsafe rest = UnsafeRawBufferPointer(rebasing: bytes[count...])
            if unsafe rest.isEmpty { return }
        }
        unsafe pending.append(rest)
        if pending.count > maximumPendingWriteBytes { return endSoon(.tooMuchUnsent) }
        if phase != .connecting { awaitWritable() }
    }

    /// Sends what waits. Called when the descriptor is writable.
    func flush() {
        guard let count = unsafe pending.withFirst({ unsafe transmit($0) }) else { return }
        pending.removeFirst(count)
        guard pending.isEmpty else { return awaitWritable() }
        writeWatch?.suspend()
        if phase == .flushing { return flushed() }
        onDrained()
    }

    /// How many bytes the kernel took; nil when the stream is broken.
    private func transmit(_ bytes: UnsafeRawBufferPointer) -> Int? {
        guard let descriptor else { return nil }
        let count = unsafe Glibc.send(descriptor.number, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL))
        if count >= 0 { return count }
        if errno == EAGAIN || errno == EINTR { return 0 }
        sendingFailed(errno)
        return nil
    }

    /// Nothing more can be sent. What the peer sent before its reset is still read: its goodbye may be among it.
    private func sendingFailed(_ fault: CInt) {
        guard phase == .open, !isReadingPaused, !hasPeerFinished else { return endSoon(.broken(fault)) }
        (writeFault, pending) = (fault, WriteQueue())
        writeWatch?.suspend()
    }

    private func awaitWritable() {
        if let writeWatch { return writeWatch.resume() }
        guard let descriptor else { return }
        writeWatch = loop.watch(descriptor: descriptor.number, for: .write) { [unowned self] in flush() }
    }
}
