import EventLoop
public import Wire

/// Which addresses are known to work: streams live from there, or did within the hour. For any thread; asked when a connection or
/// a handshake begins, updated when a publish does and when it ends.
///
/// A hall with a hundred encoders behind one NAT is one address and no attack. So who has published may do ten times as much as a
/// stranger, and never less at once than it had streams: after a restart they all come back in the same second.
public final class AddressTrust: Sendable {
    /// How much more than a stranger.
    public static let factor = 10
    /// How long after the last publish.
    public static let duration = Duration.seconds(3_600)
    /// If more publish, those that did so longest ago are strangers again.
    public static let maximumAddresses = 8_192

    private struct Record {
        var live = 0
        /// The most that were live at once.
        var most = 0
        var end: MonotonicTime

        func isOver(at now: MonotonicTime) -> Bool { live == 0 && end <= now }
    }

    private let records = Lock(
        FadingTable<IPAddress, Record>(maximumCount: maximumAddresses, lifetime: duration) { $0.live > 0 })

    /// Nobody is known.
    public init() {}

    /// A publish from there was granted.
    public func publishBegan(_ address: IPAddress, at now: MonotonicTime) {
        records.withLock { records in
            let known = records.value(of: address.network, at: now).flatMap { $0.isOver(at: now) ? nil : $0 }
            let live = (known?.live ?? 0) + 1
            let record = Record(live: live, most: max(known?.most ?? 0, live), end: now + Self.duration)
            records.set(record, for: address.network, at: now)
        }
    }

    /// A publish from there has ended, in whatever way; its address stays known for `duration`.
    public func publishEnded(_ address: IPAddress, at now: MonotonicTime) {
        records.withLock { records in
            guard var record = records.value(of: address.network, at: now) else { return }
            record.live = max(0, record.live - 1)
            record.end = now + Self.duration
            records.set(record, for: address.network, at: now)
        }
    }

    /// What the address may do at once or in a second, where a stranger may do `limit`.
    public func allowance(_ limit: Int, for address: IPAddress, at now: MonotonicTime) -> Int {
        guard let record = records.withLock({ $0.glimpse(of: address.network) }), !record.isOver(at: now) else { return limit }
        return max(limit * Self.factor, record.most)
    }

    /// Addresses remembered now.
    func addressCount(at now: MonotonicTime) -> Int { records.withLock { $0.count(at: now) } }
}
