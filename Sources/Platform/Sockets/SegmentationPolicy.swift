import Wire

/// When UDP GSO is worth trying. Sans-IO.
///
/// A size that the path cannot carry, a device without checksum offload, a tunnel: the kernel refuses such runs, and the
/// destination then gets its datagrams one by one for a while.
struct SegmentationPolicy {
    /// The kernel's limit is 64 on old versions, and 64 KB in all with headers.
    static let maximumSegments = 54
    static let maximumRunBytes = 64_000
    /// UDP payload that fits the smallest MTU of IPv6 links (1,280). Longer datagrams go alone, where they may be fragmented.
    static let maximumSegmentBytes = 1_232
    static let pause = Duration.seconds(60)
    /// Destinations remembered as refusing; beyond that the oldest knowledge is forgotten, and tried again.
    static let maximumRefusals = 1_024

    private var refusedUntil: [SocketAddress: MonotonicTime] = [:]

    var refusalCount: Int { refusedUntil.count }

    /// How many datagrams of that size may go to `peer` in one call; 1 means without GSO.
    mutating func segments(ofSize size: Int, to peer: SocketAddress, now: MonotonicTime) -> Int {
        if let moment = refusedUntil[peer] {
            if moment > now { return 1 }
            refusedUntil[peer] = nil
        }
        return Self.segments(ofSize: size)
    }

    /// The same where no destination has ever refused a run.
    static func segments(ofSize size: Int) -> Int {
        size <= maximumSegmentBytes ? max(1, min(maximumSegments, maximumRunBytes / size)) : 1
    }

    mutating func runWasRefused(by peer: SocketAddress, now: MonotonicTime) {
        if refusedUntil.count >= Self.maximumRefusals { refusedUntil = refusedUntil.filter { $0.value > now } }
        if refusedUntil.count >= Self.maximumRefusals { refusedUntil.removeAll() }
        refusedUntil[peer] = now + Self.pause
    }
}
