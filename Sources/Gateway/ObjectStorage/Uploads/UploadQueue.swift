import Wire

/// What waits to be stored: in order within each lane, one of them under way; what a playlist names is there before it.
///
/// Pure: given the time, it says what to store now and when to ask again. A bucket that is away slows down only its own lanes,
/// and is asked for hours; one that refuses ends the lane.
struct UploadQueue: Sendable {
    /// What is asked for at once, of all lanes.
    static let maximumInFlight = 16
    /// Objects that wait, at most; the spool is bounded by bytes before that.
    static let maximumWaiting = 200_000
    /// Between two tries, at first and at most.
    static let firstDelay = Duration.seconds(1)
    static let maximumDelay = Duration.seconds(60)
    /// A bucket that has taken nothing for so long will not.
    static let patience = Duration.seconds(24 * 3_600)

    struct Item: Sendable {
        var id: UInt64
        var bucket: String
        /// Objects of one lane are stored in the order in which they were added.
        var lane: String
        var key: String
        var addedAt: MonotonicTime
        /// Whether a newer one of the same key may take its place.
        var isReplaceable: Bool
    }

    enum Result: Equatable, Sendable {
        case stored
        case failed(StorageFault)
    }

    /// What is over, and how.
    enum Ending: Equatable, Sendable {
        case stored(UInt64)
        /// A newer one of the same key is stored in its place.
        case replaced(UInt64)
        case failed(UInt64, String)
    }

    private struct Lane: Sendable {
        var bucket: String
        var items: [Item] = []
        var isInFlight = false
        var failures = 0
        var failingSince: MonotonicTime?
        var notBefore = MonotonicTime.zero
    }

    private var lanes: [String: Lane] = [:]
    /// Lanes in the order in which they had their turn.
    private var order: [String] = []
    private(set) var inFlight = 0
    private(set) var count = 0

    /// - Returns: what it replaces, or that it is not taken.
    mutating func add(_ item: Item) -> [Ending] {
        guard count < Self.maximumWaiting else { return [.failed(item.id, "too many objects wait for their buckets")] }
        var lane = lanes[item.lane] ?? Lane(bucket: item.bucket)
        if lane.items.isEmpty { order.append(item.lane) }
        let waiting = lane.items.indices.dropFirst(lane.isInFlight ? 1 : 0)
        let replaced = item.isReplaceable ? waiting.filter { lane.items[$0].key == item.key && lane.items[$0].isReplaceable } : []
        let endings = replaced.map { Ending.replaced(lane.items[$0].id) }
        for index in replaced.reversed() { lane.items.remove(at: index) }
        lane.items.append(item)
        lanes[item.lane] = lane
        count += 1 - replaced.count
        return endings
    }

    /// What to store now. For each of them `finished` must be called.
    mutating func due(at now: MonotonicTime) -> [Item] {
        var items: [Item] = []
        for name in order where inFlight < Self.maximumInFlight {
            guard let lane = lanes[name], !lane.isInFlight, lane.notBefore <= now, let item = lane.items.first else { continue }
            lanes[name]?.isInFlight = true
            inFlight += 1
            items.append(item)
        }
        // Whoever had a turn comes last in the next one.
        let served = Set(items.map(\.lane))
        if !served.isEmpty { order = order.filter { !served.contains($0) } + items.map(\.lane) }
        return items
    }

    mutating func finished(_ item: Item, _ result: Result, at now: MonotonicTime) -> [Ending] {
        guard var lane = lanes[item.lane], lane.isInFlight, lane.items.first?.id == item.id else { return [] }
        inFlight -= 1
        lane.isInFlight = false
        switch result {
        case .stored:
            lane.items.removeFirst()
            (lane.failures, lane.failingSince) = (0, nil)
            count -= 1
            keep(lane, item.lane)
            comeBack(item.bucket)
            return [.stored(item.id)]
        case .failed(.final(let words)): return end(lane, item.lane, words)
        case .failed(.transient(let words)):
            let since = lane.failingSince ?? now
            guard now - since < Self.patience else { return end(lane, item.lane, words) }
            lane.failingSince = since
            lane.notBefore = now + min(Self.firstDelay * (1 << min(lane.failures, 20)), Self.maximumDelay)
            lane.failures += 1
            lanes[item.lane] = lane
            return []
        }
    }

    /// When `due` will have something that it has not now; nil when only an answer can change that.
    var nextAttempt: MonotonicTime? {
        guard inFlight < Self.maximumInFlight else { return nil }
        return lanes.values.filter { !$0.isInFlight }.map(\.notBefore).min()
    }

    /// Since when the oldest of all has waited; nil when nothing waits.
    var oldest: MonotonicTime? { lanes.values.compactMap { $0.items.first?.addedAt }.min() }

    private mutating func end(_ lane: Lane, _ name: String, _ words: String) -> [Ending] {
        count -= lane.items.count
        lanes[name] = nil
        order.removeAll { $0 == name }
        return lane.items.map { .failed($0.id, words) }
    }

    private mutating func keep(_ lane: Lane, _ name: String) {
        lanes[name] = lane.items.isEmpty ? nil : lane
        if lane.items.isEmpty { order.removeAll { $0 == name } }
    }

    /// The bucket works again: what waits there for its next try is stored at once.
    private mutating func comeBack(_ bucket: String) {
        for name in order where lanes[name]?.bucket == bucket && lanes[name]?.failures != 0 { lanes[name]?.notBefore = .zero }
    }
}
