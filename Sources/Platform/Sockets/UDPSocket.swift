import CShim
public import EventLoop
import Glibc
public import Wire

/// A UDP socket on a loop: batches in (recvmmsg), runs of equal datagrams out (UDP GSO).
@safe
public final class UDPSocket {
    /// What is asked for where nobody says otherwise, and always for sending: 92 packets of 1,200 bytes fit without asking, 184
    /// by Debian's `net.core.rmem_max`, which is 10 ms of 50 streams; 8 MB holds a burst of all.
    public static let bufferBytes: CInt = 8 << 20

    /// With the port that the kernel chose where 0 was asked for.
    public let localAddress: SocketAddress
    /// What the kernel granted, as it counts (twice the payload).
    public let grantedReceiveBufferBytes: Int
    /// Called with what arrived; at most 64 datagrams, then other descriptors have their turn.
    /// Datagrams longer than 2,048 bytes, which no path of ours carries, come cut to that.
    public var onDatagrams: (DatagramBatch) -> Void = { _ in }
    /// Called once when the socket takes datagrams again, after `.wouldBlock` and `awaitWritable()`.
    public var onWritable: () -> Void = {}
    /// Called with the number of datagrams that the kernel refused for another reason than a full buffer: they are lost.
    public var onRefusal: (Int) -> Void = { _ in }
    /// Called when what was gathered has been given to the kernel (`gatherRuns`), or that was tried: what it has no room for waits.
    public var onGathered: () -> Void = {}
    /// Since the socket was made.
    public var counters: UDPCounters { counted }

    private let descriptor: OwnedDescriptor
    private let family: CInt
    private let loop: EventLoop
    private var segmentation = SegmentationPolicy()
    /// Some destination has refused a run: only then is the policy's memory asked.
    private var wasRunRefused = false
    private let vectors = VectorBuffer()
    private var outbox: RunOutbox?
    private let batch: ReceiveBatch
    private var readWatch: DescriptorWatch?
    private var writeWatch: DescriptorWatch?
    /// As the kernel counts them for this socket, whoever has read it.
    private var kernelDrops: UInt32
    private var counted = UDPCounters()

    /// Reads a bound socket on `loop` from the next turn on.
    /// - Parameter receiveBuffer: bytes of the kernel's buffer for what arrives.
    public init(loop: EventLoop, socket: BoundSocket, receiveBuffer: Int = Int(bufferBytes)) {
        precondition(socket.transport == .udp, "a UDP socket is made from a UDP socket")
        self.loop = loop
        (descriptor, localAddress) = (socket.descriptor, socket.localAddress)
        family = shim_socket_family(descriptor.number)
        batch = loop.resource { ReceiveBatch() }
        shim_prepare_datagrams(descriptor.number, family)
        // A socket that another process had before has dropped for that one.
        kernelDrops = shim_datagram_drops(descriptor.number)
        Self.enlargeBuffers(descriptor.number, receiveBuffer: CInt(clamping: receiveBuffer))
        grantedReceiveBufferBytes = socket.receiveBufferBytes
        readWatch = loop.watch(descriptor: descriptor.number, for: .read, priority: .media) { [unowned self] in receive() }
    }

    /// Binds a socket of its own, such as one toward the routers.
    public convenience init(loop: EventLoop, address: SocketAddress) throws(SystemError) {
        self.init(loop: loop, socket: try BoundSocket(.udp, address))
    }

    deinit {
        readWatch?.cancel()
        writeWatch?.cancel()
    }

    /// Stops reading for good; sending still works until the socket is dropped.
    public func stopReceiving() { readWatch?.cancel() }

    /// Leaves what arrives in the kernel until `resumeReceiving`; what has no room there is lost.
    public func suspendReceiving() { readWatch?.suspend() }
    /// Reads again.
    public func resumeReceiving() { readWatch?.resume() }

    /// Calls `onWritable` once, as soon as the socket takes datagrams again.
    public func awaitWritable() {
        if let writeWatch { return writeWatch.resume() }
        writeWatch = loop.watch(descriptor: descriptor.number, for: .write, priority: .media) { [unowned self] in
            writeWatch?.suspend()
            if sendGathered() { onWritable() }
        }
    }

    private func receive() {
        var drops = kernelDrops
        let count = unsafe shim_batch_receive(batch.handle, descriptor.number, &drops)
        // Errors here are echoes of earlier sends (ICMP); the datagrams behind them are read in the next turn.
        guard count > 0 else { return }
        if count == SHIM_BATCH_SLOTS { loop.leftMore() }
        counted.received += Int(count)
        countDrops(upTo: drops)
        unsafe onDatagrams(DatagramBatch(shim_batch_datagrams(batch.handle), count: Int(count)))
    }

    /// What was queued before we had the socket tells of fewer than had been dropped by then. The kernel's count wraps.
    private func countDrops(upTo drops: UInt32) {
        let further = Int32(bitPattern: drops &- kernelDrops)
        guard further > 0 else { return }
        counted.droppedByKernel += Int(further)
        kernelDrops = drops
    }

    /// SO_RCVBUFFORCE passes the system's limit with CAP_NET_ADMIN; without it we get what `rmem_max` allows.
    private static func enlargeBuffers(_ descriptor: CInt, receiveBuffer: CInt) {
        if shim_set_option(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, receiveBuffer) < 0 {
            shim_set_option(descriptor, SOL_SOCKET, SO_RCVBUF, receiveBuffer)
        }
        if shim_set_option(descriptor, SOL_SOCKET, SO_SNDBUFFORCE, bufferBytes) < 0 {
            shim_set_option(descriptor, SOL_SOCKET, SO_SNDBUF, bufferBytes)
        }
    }

    // MARK: - Sending

    /// Sends one datagram, from the local address that its peer knows.
    @discardableResult
    public func send(_ payload: UnsafeRawBufferPointer, to peer: SocketAddress, from local: IPAddress? = nil) -> SendOutcome {
        guard sendGathered() else { return .wouldBlock }
        vectors.removeAll()
        _ = unsafe vectors.append(payload)
        return transmit(segments: 1, segmentSize: payload.count, to: peer.shim, from: local?.shim ?? shim_address())
    }

    /// The same for bytes in an array.
    @discardableResult
    public func send(_ payload: [UInt8], to peer: SocketAddress, from local: IPAddress? = nil) -> SendOutcome {
        unsafe payload.withUnsafeBytes { unsafe send($0, to: peer, from: local) }
    }

    /// Sends the pieces, one after the other, cut into datagrams of `segmentSize` bytes, of which the last may be shorter.
    ///
    /// Runs go to the kernel in one call (UDP_SEGMENT): a sixth of the cost of a call each. The caller sees no limit of that.
    public func sendRun(
        _ pieces: UnsafeBufferPointer<UnsafeRawBufferPointer>, segmentSize: Int, to peer: SocketAddress
    ) -> RunOutcome {
        precondition(1...Int(UInt16.max) ~= segmentSize, "datagrams of a run have a size")
        guard loop.isInTurn || sendGathered() else { return RunOutcome(outcome: .wouldBlock) }
        let peerAddress = peer.shim
        var run = unsafe SegmentCursor(pieces)
        var result = RunOutcome()
        while !run.isAtEnd {
            let start = run
            let limit =
                wasRunRefused
                ? segmentation.segments(ofSize: segmentSize, to: peer, now: loop.now)
                : SegmentationPolicy.segments(ofSize: segmentSize)
            let segments = run.take(limit, segmentSize: segmentSize, into: vectors)
            let outcome =
                gather(segments, ofSize: segmentSize, to: peerAddress)
                ?? transmit(segments: segments, segmentSize: segmentSize, to: peerAddress, from: shim_address())
            if case .failed(let code) = outcome, segments > 1, SegmentationPolicy.isAboutSegmentation(code) {
                noteRefusal(by: peer)
                run = start
                continue
            }
            if outcome == .wouldBlock { return RunOutcome(count: result.count, outcome: .wouldBlock) }
            result.count += segments
            if outcome != .sent { result.outcome = outcome }
        }
        return result
    }

    /// The same for pieces in an array.
    public func sendRun(
        _ pieces: [UnsafeRawBufferPointer], segmentSize: Int, to peer: SocketAddress
    ) -> RunOutcome {
        unsafe pieces.withUnsafeBufferPointer { unsafe sendRun($0, segmentSize: segmentSize, to: peer) }
    }

    private func noteRefusal(by peer: SocketAddress) {
        segmentation.runWasRefused(by: peer, now: loop.now)
        wasRunRefused = true
    }

    /// Sends what is gathered in `vectors`.
    private func transmit(
        segments: Int, segmentSize: Int, to peer: shim_address, from local: shim_address
    ) -> SendOutcome {
        var outcome = SendOutcome.sent
        // A pending ICMP error makes the next send fail without sending; the second attempt sends.
        for attempt in 0..<2 {
            let status = transmitOnce(segments > 1 ? UInt16(segmentSize) : 0, peer, local)
            if status >= 0 {
                counted.sent += segments
                return outcome
            }
            switch errno {
            case EAGAIN: return .wouldBlock
            case ECONNREFUSED where attempt == 0: outcome = .refused
            case let code where segments > 1 && SegmentationPolicy.isAboutSegmentation(code): return .failed(code)
            case let code:
                onRefusal(segments)
                return .failed(code)
            }
        }
        return outcome
    }

    private func transmitOnce(_ segmentSize: UInt16, _ peer: shim_address, _ local: shim_address) -> Int {
        var (peer, local) = (peer, local)
        return unsafe shim_send_datagrams(
            descriptor.number, family, vectors.start, CInt(vectors.count), segmentSize, &peer, &local)
    }

    // MARK: - Runs of a turn together

    /// From now on runs that are sent within a turn of the loop leave at its end, sixteen by one call, and before anything else
    /// that is sent after them. In a turn that serves hundreds of streams it makes each cheaper; alone a run leaves as soon.
    public func gatherRuns() {
        unsafe gatherRuns { [descriptor, family] runs in
            unsafe shim_send_runs(descriptor.number, family, runs.baseAddress, CInt(runs.count))
        }
    }

    /// The same by another kernel's hands (`RunOutbox`).
    func gatherRuns(give: @escaping (UnsafeBufferPointer<shim_run>) -> CInt) {
        outbox = unsafe RunOutbox(give: give)
        loop.atTurnEnd { [weak self] in _ = self?.sendGathered() }
    }

    /// Keeps what is gathered in `vectors` until the turn's end.
    /// - Returns: nil when it has to be sent at once.
    private func gather(_ segments: Int, ofSize size: Int, to peer: shim_address) -> SendOutcome? {
        guard let outbox, loop.isInTurn else { return nil }
        guard !outbox.isBlocked else { return .wouldBlock }
        let segmentSize = segments > 1 ? size : 0
        if outbox.add(vectors, segmentSize: segmentSize, to: peer) { return .sent }
        guard sendGathered() else { return .wouldBlock }
        return outbox.add(vectors, segmentSize: segmentSize, to: peer) ? .sent : nil
    }

    /// Sends what waits, in order, as far as the kernel takes it.
    /// - Returns: whether nothing waits any more.
    private func sendGathered() -> Bool {
        guard let outbox else { return true }
        defer { onGathered() }
        while !outbox.isEmpty {
            switch outbox.sendNext() {
            case .sent(let count): counted.sent += count
            case .lost(let count): onRefusal(count)
            case .split(let peer): if let peer { noteRefusal(by: peer) }
            case .full:
                awaitWritable()
                return false
            }
        }
        return true
    }
}

/// What became of something sent. None of these ends a session.
public enum SendOutcome: Equatable, Sendable {
    case sent
    /// The send buffer is full: keep it, and send again after `onWritable`.
    case wouldBlock
    /// Sent, but the peer's host said about an earlier datagram that nobody listens (ICMP): a hint about its health.
    case refused
    /// Gone; errno says why.
    case failed(CInt)
}

/// What became of a run of datagrams.
public struct RunOutcome: Equatable, Sendable {
    /// Datagrams that are done with, sent or failed. With `.wouldBlock` the caller keeps those behind.
    public var count = 0
    /// Of the last datagram that was not simply sent.
    public var outcome = SendOutcome.sent

    /// What became of so many.
    public init(count: Int = 0, outcome: SendOutcome = .sent) { (self.count, self.outcome) = (count, outcome) }
}

/// What went through a UDP socket, in datagrams.
public struct UDPCounters: Equatable, Sendable {
    /// Datagrams read.
    public var received = 0
    /// Datagrams given to the kernel.
    public var sent = 0
    /// Dropped by the kernel because the receive buffer was full (SO_RXQ_OVFL): the loop is too slow or the buffer too small.
    public var droppedByKernel = 0
}
