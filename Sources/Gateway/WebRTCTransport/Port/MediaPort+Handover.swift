import EventLoop
import GatewayMetrics
public import Sockets
import Wire

/// Two processes of one node and one media port (docs/design.md 4.6): the newer one reads, and passes on what is none of
/// its own; the older one takes that as just received and answers through its own duplicate of the socket.
extension MediaPort {
    /// Another process reads from now on; what it passes on comes over `link`.
    public func suspend(readingFrom link: OwnedDescriptor) {
        socket.suspendReceiving()
        let link = DatagramLink(loop: loop, descriptor: link)
        link.onDatagram = { [unowned self] datagram in
            receive(datagram.payload, on: MediaPath(remote: datagram.source, local: datagram.local), at: loop.now)
        }
        link.onBatchEnd = { [unowned self] in endBatch() }
        successor = link
    }

    /// Reads nothing until `resume()`: another process still does.
    public func suspend() { socket.suspendReceiving() }

    /// Reads (again).
    public func resume() {
        successor = nil
        socket.resumeReceiving()
    }

    /// From now on datagrams of nobody we know go over `link`; nil when the process there has ended.
    public func passForeign(over link: OwnedDescriptor?) {
        predecessor = link.map { DatagramLink(loop: loop, descriptor: $0) }
    }

    /// Passes a datagram on to the process before us; false when there is none.
    func pass(_ datagram: UnsafeRawBufferPointer, on path: MediaPath) -> Bool {
        guard let predecessor, !path.isStream else { return false }
        let droppedBefore = predecessor.dropped
        predecessor.send(datagram, from: path.remote, to: path.local)
        (predecessor.dropped == droppedBefore ? plane.metrics.passedOn : plane.metrics.foreignDropped).increment()
        return true
    }
}
