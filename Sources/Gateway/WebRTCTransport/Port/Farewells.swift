import Wire

/// Records of close_notify for peers that come back after their session ended by silence.
///
/// A peer behind a broken network hears nothing of the end; when its media comes again from the session's tuple it is told:
/// OBS reconnects then, where it would send into nothing for 17 s and give up. Bounded in every way, because an address proves
/// nothing: few records, one a second, each no longer than what it answers.
struct Farewells {
    private struct Farewell {
        var records: ArraySlice<[UInt8]>
        var next: MonotonicTime
        let end: MonotonicTime
    }

    private var byTuple: [TupleKey: Farewell] = [:]
    /// In the order in which they end; some were answered to the end, or removed, before.
    private var order: ArraySlice<(key: TupleKey, end: MonotonicTime)> = []

    /// The peer that was at `key` is answered from now on. When there are too many, the one that ends first goes.
    mutating func add(_ records: [[UInt8]], for key: TupleKey, at now: MonotonicTime) {
        while let first = order.first, first.end <= now || byTuple.count >= Self.maximumCount {
            order.removeFirst()
            if byTuple[first.key]?.end == first.end { byTuple[first.key] = nil }
        }
        order.append((key, now + Self.lifetime))
        byTuple[key] = Farewell(records: records.prefix(Self.recordCount), next: now, end: now + Self.lifetime)
    }

    /// What to answer media from there with; nil for strangers, and when it was answered a moment ago.
    mutating func answer(_ key: TupleKey, at now: MonotonicTime) -> [UInt8]? {
        guard !byTuple.isEmpty, let farewell = byTuple[key], now >= farewell.next else { return nil }
        guard now < farewell.end, let record = farewell.records.first else {
            byTuple[key] = nil
            return nil
        }
        byTuple[key]?.records.removeFirst()
        byTuple[key]?.next = now + Self.interval
        return record
    }

    /// A session is there again.
    mutating func remove(_ key: TupleKey) { if !byTuple.isEmpty { byTuple[key] = nil } }

    var count: Int { byTuple.count }

    /// For each peer; some may be lost too.
    static let recordCount = 5
    private static let lifetime: Duration = .seconds(60)
    private static let interval: Duration = .seconds(1)
    /// Of one worker: half a megabyte.
    static let maximumCount = 1_024
}
