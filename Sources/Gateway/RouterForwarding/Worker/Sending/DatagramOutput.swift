import Sockets
import Wire

/// Where send queues put their datagrams: the worker's socket toward the routers, or a test's.
protocol DatagramOutput: AnyObject {
    /// Sends the pieces cut into datagrams of `segmentSize`, the last one shorter or not (`UDPSocket.sendRun`).
    func sendRun(
        _ pieces: UnsafeBufferPointer<UnsafeRawBufferPointer>, segmentSize: Int, to destination: SocketAddress
    ) -> RunOutcome
    /// Asks for `SendQueue.drain` when the socket is writable again.
    func awaitWritable(_ queue: SendQueue)
    /// Asks for `SendQueue.drain` every millisecond until it is empty.
    func pace(_ queue: SendQueue)
}
