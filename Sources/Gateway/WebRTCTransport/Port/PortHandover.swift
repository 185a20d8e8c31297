import EventLoop
import GatewayMetrics
import Sockets

/// One worker's datagrams between two processes of one node and one media port (docs/design.md 4.6): the newer one reads, and
/// passes on what is none of its own; the older one takes that as just received and answers through its own duplicate of the
/// socket. Confined to the loop.
@safe final class PortHandover {
    /// Given each datagram that the process after us passes on, where it lies.
    var onDatagram: (UnsafeMutableRawBufferPointer, MediaPath) -> Void = { _, _ in }
    /// Called after the last one of those that came at once.
    var onBatchEnd: () -> Void = {}

    private let loop: EventLoop
    private let socket: UDPSocket
    private let metrics: TransportMetrics
    /// The process before us, as long as it has sessions: what is none of ours may be theirs.
    private var predecessor: DatagramLink?
    /// From the process after us, which reads the socket.
    private var successor: DatagramLink?

    init(loop: EventLoop, socket: UDPSocket, metrics: TransportMetrics) {
        (self.loop, self.socket, self.metrics) = (loop, socket, metrics)
    }

    // MARK: - The older process

    func suspend(readingFrom link: OwnedDescriptor) {
        socket.suspendReceiving()
        let link = DatagramLink(loop: loop, descriptor: link)
        link.onDatagram = { [unowned self] datagram in
            unsafe onDatagram(datagram.payload, MediaPath(remote: datagram.source, local: datagram.local))
        }
        link.onBatchEnd = { [unowned self] in onBatchEnd() }
        successor = link
    }

    func suspend() { socket.suspendReceiving() }

    func resume() {
        successor = nil
        socket.resumeReceiving()
    }

    // MARK: - The newer process

    var hasPredecessor: Bool { predecessor != nil }

    func passForeign(over link: OwnedDescriptor?) {
        predecessor = link.map { DatagramLink(loop: loop, descriptor: $0) }
    }

    /// Passes a datagram on to the process before us; false when there is none.
    func pass(_ datagram: ReceivedDatagram) -> Bool {
        guard let predecessor, !datagram.path.isStream else { return false }
        let droppedBefore = predecessor.dropped
        unsafe predecessor.send(datagram.bytes, from: datagram.path.remote, to: datagram.path.local)
        (predecessor.dropped == droppedBefore ? metrics.passedOn : metrics.foreignDropped).increment()
        return true
    }
}
