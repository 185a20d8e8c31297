import CShim
public import EventLoop
import Glibc
public import Wire

/// A UDP socket on a loop: batches in (recvmmsg), runs of equal datagrams out (UDP GSO).
@safe
public final class UDPSocket {
    /// What is asked for: 92 packets of 1,200 bytes fit without asking, 184 by Debian's `net.core.rmem_max`, which is 10 ms of 50
    /// streams; 8 MB holds a burst of all.
    public static let receiveBufferBytes: CInt = 8 << 20

    public let localAddress: SocketAddress
    /// What the kernel granted, as it counts (twice the payload).
    public let grantedReceiveBufferBytes: Int
    /// Called with what arrived; at most 64 datagrams, then other descriptors have their turn.
    /// Datagrams longer than 2,048 bytes, which no path of ours carries, come cut to that.
    public var onDatagrams: (DatagramBatch) -> Void = { _ in }
    /// Called once when the socket takes datagrams again, after `.wouldBlock` and `awaitWritable()`.
    public var onWritable: () -> Void = {}
    public var counters: UDPCounters { counted }

    let descriptor: OwnedDescriptor
    let family: CInt
    let loop: EventLoop
    var segmentation = SegmentationPolicy()
    /// Some destination has refused a run: only then is the policy's memory asked.
    var wasRunRefused = false
    let vectors = VectorBuffer()
    private let batch: ReceiveBatch
    private var readWatch: DescriptorWatch?
    private var writeWatch: DescriptorWatch?
    private var kernelDrops: UInt32 = 0
    private var counted = UDPCounters()

    /// Reads a bound socket on `loop` from the next turn on.
    public init(loop: EventLoop, socket: BoundSocket, priority: EventPriority = .media) {
        precondition(socket.transport == .udp, "a UDP socket is made from a UDP socket")
        self.loop = loop
        (descriptor, localAddress) = (socket.descriptor, socket.localAddress)
        family = shim_socket_family(descriptor.number)
        batch = loop.resource { ReceiveBatch() }
        shim_prepare_datagrams(descriptor.number, family)
        grantedReceiveBufferBytes = Self.enlargeBuffers(descriptor.number)
        readWatch = loop.watch(descriptor: descriptor.number, for: .read, priority: priority) { [unowned self] in receive() }
    }

    /// Binds a socket of its own, such as one toward the routers.
    public convenience init(
        loop: EventLoop, address: SocketAddress, priority: EventPriority = .media
    ) throws(SystemError) {
        self.init(loop: loop, socket: try BoundSocket(.udp, address), priority: priority)
    }

    deinit {
        readWatch?.cancel()
        writeWatch?.cancel()
    }

    /// Stops reading for good; sending still works until the socket is dropped.
    public func stopReceiving() { readWatch?.cancel() }

    public func suspendReceiving() { readWatch?.suspend() }
    public func resumeReceiving() { readWatch?.resume() }

    /// Calls `onWritable` once, as soon as the socket takes datagrams again.
    public func awaitWritable() {
        if let writeWatch { return writeWatch.resume() }
        writeWatch = loop.watch(descriptor: descriptor.number, for: .write, priority: .media) { [unowned self] in
            writeWatch?.suspend()
            onWritable()
        }
    }

    private func receive() {
        let before = kernelDrops
        let count = unsafe shim_batch_receive(batch.handle, descriptor.number, &kernelDrops)
        // Errors here are echoes of earlier sends (ICMP); the datagrams behind them are read in the next turn.
        guard count > 0 else { return }
        if count == SHIM_BATCH_SLOTS { loop.leftMore() }
        counted.received += Int(count)
        counted.droppedByKernel += Int(kernelDrops &- before)
        unsafe onDatagrams(DatagramBatch(shim_batch_datagrams(batch.handle), count: Int(count)))
    }

    /// SO_RCVBUFFORCE passes the system's limit with CAP_NET_ADMIN; without it we get what `rmem_max` allows.
    private static func enlargeBuffers(_ descriptor: CInt) -> Int {
        if shim_set_option(descriptor, SOL_SOCKET, SO_RCVBUFFORCE, receiveBufferBytes) < 0 {
            shim_set_option(descriptor, SOL_SOCKET, SO_RCVBUF, receiveBufferBytes)
        }
        if shim_set_option(descriptor, SOL_SOCKET, SO_SNDBUFFORCE, receiveBufferBytes) < 0 {
            shim_set_option(descriptor, SOL_SOCKET, SO_SNDBUF, receiveBufferBytes)
        }
        return Int(shim_option(descriptor, SOL_SOCKET, SO_RCVBUF))
    }

    func count(sent: Int = 0, failed: Int = 0) {
        counted.sent += sent
        counted.failed += failed
    }
}

/// What went through a UDP socket, in datagrams.
public struct UDPCounters: Equatable, Sendable {
    public var received = 0
    public var sent = 0
    /// Refused by the kernel for another reason than a full buffer.
    public var failed = 0
    /// Dropped by the kernel because the receive buffer was full (SO_RXQ_OVFL): the loop is too slow or the buffer too small.
    public var droppedByKernel = 0
}
