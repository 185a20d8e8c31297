import Wire

/// What waits to be stored: so many objects at once, the others in the order in which they came.
///
/// Pure: given the time, it says what to store now and when to ask again. A bucket that is away slows down only what is for it,
/// which is tried again for hours; what a bucket refuses is over.
struct UploadQueue: Sendable {
    /// What is under way at once, to all buckets.
    static let maximumInFlight = 16
    /// Objects that wait, at most; the spool is bounded by bytes before that.
    static let maximumWaiting = 200_000
    /// Between two tries, at first and at most.
    static let firstDelay = Duration.seconds(1)
    static let maximumDelay = Duration.seconds(60)
    /// A bucket that has taken nothing for so long will not.
    static let patience = Duration.seconds(24 * 3_600)

    struct Item: Equatable, Sendable {
        var id: UInt64
        var bucket: String
        var addedAt: MonotonicTime
    }

    private struct Entry: Sendable {
        let item: Item
        var failures = 0
        var failingSince: MonotonicTime?
        var notBefore = MonotonicTime.zero
    }

    /// In the order of their turns.
    private var waiting: [Entry] = []
    private var flying: [UInt64: Entry] = [:]

    var count: Int { waiting.count + flying.count }
    var inFlight: Int { flying.count }

    /// - Returns: false when too many wait already.
    mutating func add(_ item: Item) -> Bool {
        guard count < Self.maximumWaiting else { return false }
        waiting.append(Entry(item: item))
        return true
    }

    /// What to store now. For each of them `finished` must be called.
    mutating func due(at now: MonotonicTime) -> [Item] {
        let room = Self.maximumInFlight - flying.count
        guard room > 0 else { return [] }
        let due = waiting.filter { $0.notBefore <= now }.prefix(room)
        let ids = Set(due.map(\.item.id))
        waiting.removeAll { ids.contains($0.item.id) }
        for entry in due { flying[entry.item.id] = entry }
        return due.map(\.item)
    }

    /// - Parameter fault: nil when the bucket has the object.
    /// - Returns: what became of it; nil when it is tried again, after all others that wait.
    mutating func finished(_ id: UInt64, _ fault: StorageFault?, at now: MonotonicTime) -> UploadResult? {
        guard var entry = flying.removeValue(forKey: id) else { return nil }
        switch fault {
        case nil:
            comeBack(entry.item.bucket)
            return .stored
        case .final(let words): return .failed(words)
        case .transient(let words):
            let since = entry.failingSince ?? now
            guard now - since < Self.patience else { return .failed(words) }
            entry.failingSince = since
            entry.notBefore = now + min(Self.firstDelay * (1 << min(entry.failures, 20)), Self.maximumDelay)
            entry.failures += 1
            waiting.append(entry)
            return nil
        }
    }

    /// When `due` will have something that it has not now; nil when only an answer can change that.
    var nextAttempt: MonotonicTime? {
        guard flying.count < Self.maximumInFlight else { return nil }
        return waiting.map(\.notBefore).min()
    }

    /// Since when the oldest of all has waited; nil when nothing waits.
    var oldest: MonotonicTime? { (waiting + flying.values).map(\.item.addedAt).min() }

    /// The bucket works again: what waits there for its next try is stored at once.
    private mutating func comeBack(_ bucket: String) {
        for index in waiting.indices where waiting[index].item.bucket == bucket { waiting[index].notBefore = .zero }
    }
}
