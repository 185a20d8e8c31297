import Wire

/// What waits to be stored: of each bucket so many objects at once, the others in the order in which they came.
///
/// Pure: given the time, it says what to store now and when to ask again. A bucket that is away, or takes its time, slows down
/// only what is for it: others have places of their own. What does not arrive is tried again for hours, one object at a time.
/// What a bucket refuses is over, at once if it has taken nothing yet, neither of the same recording nor in this process; else
/// its right may just be changing, and it has a minute.
struct UploadQueue: Sendable {
    /// What is under way at once to one bucket; a configuration file names few. A recording has a segment and a playlist every
    /// six seconds: a store that takes a quarter of a second for each keeps up with 380 of them.
    static let maximumInFlight = 32
    /// Objects that wait, at most; the spool is bounded by bytes before that.
    static let maximumWaiting = 200_000
    /// Between two tries, at first and at most.
    static let firstDelay = Duration.seconds(1)
    static let maximumDelay = Duration.seconds(60)
    /// A bucket that has taken nothing for so long will not.
    static let patience = Duration.seconds(24 * 3_600)
    /// Keys are exchanged, and folders mounted anew, in less.
    static let patienceWithRefusals = Duration.seconds(60)

    struct Item: Equatable, Sendable {
        var id: UInt64
        var bucket: String
        var isBucketProven = false
    }

    private struct Entry: Sendable {
        let item: Item
        var failures = 0
        var failingSince: MonotonicTime?
        /// By a bucket that is there.
        var refusedSince: MonotonicTime?
        var notBefore = MonotonicTime.zero
    }

    /// What is under way to one bucket.
    private struct Traffic: Sendable {
        var inFlight = 0
        /// It did not take what ended last.
        var isFailing = false

        /// Whether another object may go there.
        var isOpen: Bool { inFlight < (isFailing ? 1 : UploadQueue.maximumInFlight) }
    }

    /// In the order of their turns.
    private var waiting: [Entry] = []
    private var flying: [UInt64: Entry] = [:]
    /// By bucket: those with something under way, and those that are away.
    private var traffic: [String: Traffic] = [:]
    /// Buckets that have taken something.
    private var proven: Set<String> = []

    var count: Int { waiting.count + flying.count }
    var inFlight: Int { flying.count }

    /// - Returns: false when too many wait already.
    mutating func add(_ item: Item) -> Bool {
        guard count < Self.maximumWaiting else { return false }
        waiting.append(Entry(item: item))
        return true
    }

    /// What to store now. For each of them `finished` or `withdraw` must be called.
    mutating func due(at now: MonotonicTime) -> [Item] {
        var due: [Item] = []
        var left: [Entry] = []
        for entry in waiting {
            guard entry.notBefore <= now, isOpen(entry.item.bucket) else {
                left.append(entry)
                continue
            }
            traffic[entry.item.bucket, default: Traffic()].inFlight += 1
            flying[entry.item.id] = entry
            due.append(entry.item)
        }
        waiting = left
        return due
    }

    /// - Parameter fault: nil when the bucket has the object.
    /// - Returns: what became of it; nil when it is tried again, after all others that wait.
    mutating func finished(_ id: UInt64, _ fault: StorageFault?, at now: MonotonicTime) -> UploadResult? {
        guard var entry = flying.removeValue(forKey: id) else { return nil }
        let bucket = entry.item.bucket
        guard let fault else {
            answered(bucket, isAway: false)
            proven.insert(bucket)
            comeBack(bucket)
            return .stored
        }
        entry.failingSince = entry.failingSince ?? now
        entry.refusedSince = fault.isRefusal ? entry.refusedSince ?? now : nil
        guard !isPatienceOver(with: entry, at: now) else {
            answered(bucket, isAway: !fault.isRefusal)
            return .failed(fault.words)
        }
        answered(bucket, isAway: true)
        entry.notBefore = now + min(Self.firstDelay * (1 << min(entry.failures, 20)), Self.maximumDelay)
        entry.failures += 1
        waiting.append(entry)
        return nil
    }

    private func isPatienceOver(with entry: Entry, at now: MonotonicTime) -> Bool {
        if let since = entry.refusedSince {
            let isProven = entry.item.isBucketProven || proven.contains(entry.item.bucket)
            return !isProven || now - since >= Self.patienceWithRefusals
        }
        return entry.failingSince.map { now - $0 >= Self.patience } ?? false
    }

    /// What is due is not tried after all, and gone.
    mutating func withdraw(_ id: UInt64) {
        guard let bucket = flying.removeValue(forKey: id)?.item.bucket else { return }
        answered(bucket, isAway: traffic[bucket]?.isFailing ?? false)
    }

    /// When `due` will have something that it has not now; nil when only an answer can change that.
    var nextAttempt: MonotonicTime? { waiting.lazy.filter { isOpen($0.item.bucket) }.map(\.notBefore).min() }

    private func isOpen(_ bucket: String) -> Bool { traffic[bucket]?.isOpen ?? true }

    private mutating func answered(_ bucket: String, isAway: Bool) {
        let inFlight = (traffic[bucket]?.inFlight ?? 1) - 1
        traffic[bucket] = inFlight == 0 && !isAway ? nil : Traffic(inFlight: inFlight, isFailing: isAway)
    }

    /// The bucket works again: what waits there for its next try is stored at once. What it refused, while it took other things,
    /// keeps its time.
    private mutating func comeBack(_ bucket: String) {
        for index in waiting.indices where waiting[index].failures > 0 && waiting[index].item.bucket == bucket {
            if waiting[index].refusedSince == nil { waiting[index].notBefore = .zero }
        }
    }
}
