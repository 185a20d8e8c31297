import CShim
import Glibc
import Wire

/// Runs of datagrams that a socket sends together, up to sixteen by one call (sendmmsg), which finds the kernel's way of a datagram
/// in the caches from the second on. A run is copied: what it lies in is used for the next one. Sans-IO, but for `give`.
@safe
final class RunOutbox {
    /// What became of those that were to go next.
    enum Step: Equatable {
        /// So many datagrams have gone.
        case sent(Int)
        /// So many are lost: the kernel refuses them.
        case lost(Int)
        /// A run is refused as such; its datagrams go one by one.
        case split(SocketAddress?)
        /// The kernel's buffer is full; what waits is sent when there is room, however late: what the kernel has is as old.
        case full
    }

    /// Sixteen frames of some 10 kB stay in the caches; where they are larger, fewer wait.
    static let byteCapacity = 256 << 10

    /// The last of `sendNext` said `.full`.
    private(set) var isBlocked = false
    private let give: (UnsafeBufferPointer<shim_run>) -> CInt
    private let bytes = UnsafeMutableRawPointer.allocate(byteCount: byteCapacity, alignment: 16)
    private let runs = UnsafeMutablePointer<shim_run>.allocate(capacity: Int(SHIM_RUNS))
    /// Runs from `first` to `end` wait; their bytes end at `used`.
    private var first = 0
    private var end = 0
    private var used = 0
    /// Of the first run where its datagrams go one by one: their size, and the bytes behind the one that `runs` has.
    private var split = (size: UInt32(0), rest: UInt32(0))

    /// - Parameter give: gives runs to the kernel: how many it took, in order, or -errno of the first (`shim_send_runs`).
    init(give: @escaping (UnsafeBufferPointer<shim_run>) -> CInt) { unsafe self.give = give }

    deinit {
        unsafe bytes.deallocate()
        unsafe runs.deallocate()
    }

    var isEmpty: Bool { first == end }

    /// Copies a run.
    /// - Parameter segmentSize: of its datagrams, the last of which may be shorter; 0 for a single one.
    /// - Returns: false when there is no room for it.
    func add(_ vectors: VectorBuffer, segmentSize: Int, to peer: shim_address) -> Bool {
        if isEmpty { (first, end, used) = (0, 0, 0) }
        let count = vectors.byteCount
        guard end < SHIM_RUNS, count <= Self.byteCapacity - used else { return false }
        let start = unsafe bytes + used
        unsafe vectors.copy(to: start)
        let run = unsafe shim_run(
            bytes: start.assumingMemoryBound(to: UInt8.self), count: UInt32(count), segment_size: UInt16(segmentSize), peer: peer)
        unsafe (runs + end).initialize(to: run)
        (end, used) = (end + 1, used + count)
        return true
    }

    /// Sends what goes next, in order; something must wait.
    func sendNext() -> Step {
        let next = unsafe UnsafeBufferPointer(start: runs + first, count: split.rest > 0 ? 1 : end - first)
        var taken = unsafe give(next)
        // A pending ICMP error, of whichever peer, makes a send fail without sending; the second attempt sends.
        if taken == -ECONNREFUSED { taken = unsafe give(next) }
        isBlocked = taken == -EAGAIN
        if isBlocked { return .full }
        if taken > 0 { return .sent(removeFirst(Int(taken))) }
        let isSegmented = unsafe next[0].segment_size > 0
        guard isSegmented, SegmentationPolicy.isAboutSegmentation(-taken) else { return .lost(removeFirst(1)) }
        splitFirst()
        return unsafe .split(SocketAddress(next[0].peer))
    }

    /// - Returns: how many datagrams these runs were.
    private func removeFirst(_ count: Int) -> Int {
        if split.rest > 0 {
            unsafe runs[first].bytes += Int(split.size)
            unsafe runs[first].count = min(split.size, split.rest)
            unsafe split.rest -= runs[first].count
            return 1
        }
        let gone = first..<first + count
        first = gone.upperBound
        return gone.reduce(0) { unsafe $0 + runs[$1].datagramCount }
    }

    private func splitFirst() {
        unsafe split = (UInt32(runs[first].segment_size), runs[first].count - UInt32(runs[first].segment_size))
        unsafe (runs[first].count, runs[first].segment_size) = (split.size, 0)
    }
}

extension shim_run {
    var datagramCount: Int {
        let size = unsafe Int(segment_size)
        return unsafe size > 0 ? (Int(count) + size - 1) / size : 1
    }
}
