import CShim
import Glibc
import Wire

/// Runs of datagrams that a socket sends together, up to sixteen by one call (sendmmsg), which finds the kernel's way of a datagram
/// in the caches from the second on. A run is copied: what it lies in is used for the next one. Confined to the socket's loop.
@safe
final class RunOutbox {
    private let handle: OpaquePointer
    /// The kernel's buffer is full; what waits is sent when there is room.
    private(set) var isBlocked = false

    init() {
        guard let handle = unsafe shim_outbox_new() else { preconditionFailure("a worker without 300 kB of memory cannot start") }
        unsafe self.handle = handle
    }

    deinit { unsafe shim_outbox_free(handle) }

    var isEmpty: Bool { unsafe shim_outbox_count(handle) == 0 }

    /// Copies a run.
    /// - Parameter segmentSize: of its datagrams, the last of which may be shorter; 0 for a single one.
    /// - Returns: false when it has no room for it, or the socket cannot reach the peer.
    func add(_ vectors: VectorBuffer, segmentSize: Int, to peer: shim_address, family: CInt) -> Bool {
        var peer = peer
        return unsafe shim_outbox_add(handle, family, vectors.start, CInt(vectors.count), UInt16(segmentSize), &peer) != 0
    }

    /// Sends what waits, as far as the kernel takes it.
    /// - Parameter refused: called with each run that it refuses for another reason than a full buffer (errno).
    func send(over descriptor: OwnedDescriptor, refused: (shim_run, CInt) -> Void) {
        isBlocked = false
        while unsafe shim_outbox_send(handle, descriptor.number) < 0 {
            let code = errno
            if code == EAGAIN {
                isBlocked = true
                return
            }
            unsafe refused(shim_outbox_take_first(handle), code)
        }
    }
}
