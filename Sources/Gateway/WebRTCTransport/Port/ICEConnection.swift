import EventLoop
import Sockets
import Wire

/// One ICE-TCP connection (RFC 6544): datagrams in frames of two length bytes (RFC 4571), told apart as on UDP.
///
/// Until its first authenticated check it has 5 s and 2 KB. Confined to the worker's loop.
@safe final class ICEConnection {
    let path: MediaPath
    private let stream: TCPStream
    private let receive: (UnsafeMutableRawBufferPointer) -> Void
    private var deadline: TimerWatch?
    private var receivedBytes = 0
    private(set) var isAuthenticated = false
    /// Goes to another worker at the end of this turn: nothing more is read here.
    var isMoving = false
    private let slot: DatagramSlot

    /// - Parameter receive: given each datagram in place.
    init(
        _ stream: TCPStream, loop: EventLoop, receive: @escaping (UnsafeMutableRawBufferPointer) -> Void,
        onClosed: @escaping () -> Void
    ) {
        unsafe (self.stream, self.receive) = unsafe (stream, receive)
        slot = loop.resource { DatagramSlot() }
        path = MediaPath(remote: stream.remoteAddress, local: stream.localAddress.ip, isStream: true)
        stream.onClosed = { _ in onClosed() }
        unsafe stream.onBytes = { [unowned self] in unsafe take($0) }
        deadline = loop.schedule(after: Self.patience) { [unowned self] in
            if !isAuthenticated {
                close()
                onClosed()
            }
        }
    }

    deinit { deadline?.cancel() }

    /// A check of a session came over it.
    func authenticated() {
        isAuthenticated = true
        stream.carriesMedia = true
        deadline?.cancel()
    }

    /// What has no room any more is lost, as at a full UDP socket: the peer asks for it again.
    func send(_ frame: UnsafeRawBufferPointer) {
        guard stream.pendingWriteBytes + frame.count <= Self.maximumPending else { return }
        unsafe stream.write(frame)
    }

    func close() { stream.close() }

    /// Whoever calls has let go of it: `onClosed` does not follow, which would mean the next connection of the same peer.
    func closeAfterFlush() {
        stream.onClosed = { _ in }
        stream.closeAfterFlush()
    }

    func detach() -> DetachedConnection? { stream.detach() }

    /// Takes whole frames; returns how many bytes they were.
    private func take(_ bytes: UnsafeRawBufferPointer) -> Int {
        var offset = 0
        while !isMoving, !stream.isClosed, bytes.count - offset >= 2 {
            let count = unsafe Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
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
            let frame = unsafe UnsafeRawBufferPointer(rebasing: bytes[(offset + 2)..<(offset + 2 + count)])
            unsafe slot.bytes.copyMemory(from: frame)
            offset += 2 + count
            unsafe receive(UnsafeMutableRawBufferPointer(rebasing: slot.bytes[..<count]))
        }
        return offset
    }

    /// What came does not belong here; `onClosed` follows.
    private func refuse() { stream.closeAfterFlush() }

    /// Of what comes: as long as a UDP slot; nothing that we negotiate to receive is longer.
    static let maximumFrame = 2_048
    private static let maximumUnauthenticated = 2_048
    private static let patience: Duration = .seconds(5)
    /// A viewer's keyframe at 8.5 Mbit/s fits, and what follows it until the way is free.
    private static let maximumPending = 524_288
}

/// Where the connections of a loop put the datagram that they hand out. Whoever gets it is done with it on return, so that one
/// slot serves them all. Work in place may touch a little more than the datagram.
@safe private final class DatagramSlot {
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: ICEConnection.maximumFrame + 64, alignment: 8)

    deinit { unsafe bytes.deallocate() }
}
