import EventLoop
import Sockets
import Wire

/// One ICE-TCP connection (RFC 6544): datagrams in frames of two length bytes (RFC 4571), told apart as on UDP.
///
/// Until its first authenticated check it has 5 s and 2 KB. Confined to the worker's loop.
final class ICEConnection {
    let path: MediaPath
    private let stream: TCPStream
    private let receive: (UnsafeMutableRawBufferPointer) -> Void
    private var deadline: TimerWatch?
    private var receivedBytes = 0
    private(set) var isAuthenticated = false
    /// Goes to another worker at the end of this turn: nothing more is read here.
    var isMoving = false
    /// In-place work may touch a little more than the datagram.
    private let slot = UnsafeMutableRawBufferPointer.allocate(byteCount: maximumFrame + 64, alignment: 8)

    /// - Parameter receive: given each datagram in place.
    init(
        _ stream: TCPStream, loop: EventLoop, receive: @escaping (UnsafeMutableRawBufferPointer) -> Void,
        onClosed: @escaping () -> Void
    ) {
        (self.stream, self.receive) = (stream, receive)
        path = MediaPath(remote: stream.remoteAddress, local: stream.localAddress.ip, isStream: true)
        stream.maximumPendingWriteBytes = Self.maximumPending
        stream.onClosed = { _ in onClosed() }
        stream.onBytes = { [unowned self] in take($0) }
        deadline = loop.schedule(after: Self.patience) { [unowned self] in
            if !isAuthenticated {
                close()
                onClosed()
            }
        }
    }

    deinit {
        deadline?.cancel()
        slot.deallocate()
    }

    /// A check of a session came over it.
    func authenticated() {
        isAuthenticated = true
        stream.carriesMedia = true
        deadline?.cancel()
    }

    func send(_ datagram: UnsafeRawBufferPointer) {
        stream.write([UInt8(datagram.count >> 8 & 0xFF), UInt8(datagram.count & 0xFF)])
        stream.write(datagram)
    }

    func close() { stream.close() }
    func closeAfterFlush() { stream.closeAfterFlush() }
    func detach() -> DetachedConnection? { stream.detach() }

    /// Takes whole frames; returns how many bytes they were.
    private func take(_ bytes: UnsafeRawBufferPointer) -> Int {
        var offset = 0
        while !isMoving, !stream.isClosed, bytes.count - offset >= 2 {
            let count = Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
            guard count <= Self.maximumFrame else {
                refuse()
                return bytes.count
            }
            guard bytes.count - offset - 2 >= count else { break }
            receivedBytes += 2 + count
            if !isAuthenticated, receivedBytes > Self.maximumUnauthenticated {
                refuse()
                return bytes.count
            }
            let frame = UnsafeRawBufferPointer(rebasing: bytes[(offset + 2)..<(offset + 2 + count)])
            slot.copyMemory(from: frame)
            offset += 2 + count
            receive(UnsafeMutableRawBufferPointer(rebasing: slot[..<count]))
        }
        return offset
    }

    /// Not what belongs here: `onClosed` follows.
    private func refuse() { stream.closeAfterFlush() }

    /// As long as a UDP slot; nothing we negotiate is longer.
    static let maximumFrame = 2_048
    private static let maximumUnauthenticated = 2_048
    private static let patience: Duration = .seconds(5)
    /// Feedback only goes this way.
    private static let maximumPending = 65_536
}
