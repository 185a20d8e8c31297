import Settings
import Wire

/// The line in front of the verification threads: fair by source, and closed for sources that keep failing
/// (docs/design.md 7.1).
struct VerificationQueue<Job> {
    /// One source: an IPv4 address, or an IPv6 /64.
    struct Source: Hashable {
        private var network: IPAddress

        init(_ address: IPAddress) { network = address.network }
    }

    /// Jobs that may wait in all.
    static var maximumWaiting: Int { 1_024 }
    /// Sources whose failures are counted, at most.
    static var maximumSources: Int { 20_000 }
    /// How long failures are counted together, and a source is closed by them: by an `Allowance` it would be open again for one.
    static var window: Duration { .seconds(60) }

    private var waiting: [Source: [Job]] = [:]
    /// Sources with something waiting and nothing in work, in the order of their turns.
    private var turns: [Source] = []
    private var inWork = Set<Source>()
    private var failures = FadingTable<Source, (count: Int, since: MonotonicTime)>(
        maximumCount: maximumSources, lifetime: window)
    private var count = 0
    private let limits: LimitSettings

    init(limits: LimitSettings) { self.limits = limits }

    /// False when the source fails too often, has enough waiting, or everything is full.
    mutating func add(_ job: Job, from source: Source, at now: MonotonicTime) -> Bool {
        guard !isClosed(to: source, at: now), count < Self.maximumWaiting else { return false }
        let mine = waiting[source]?.count ?? 0
        // One in work beside those that wait; before its turn the first of the line stands for it.
        guard mine < limits.waitingPerSource + (inWork.contains(source) ? 0 : 1) else { return false }
        waiting[source, default: []].append(job)
        count += 1
        if mine == 0, !inWork.contains(source) { turns.append(source) }
        return true
    }

    /// The next job, whose source has no other one until `finish`.
    mutating func next() -> (job: Job, source: Source)? {
        guard !turns.isEmpty else { return nil }
        let source = turns.removeFirst()
        guard var mine = waiting[source], !mine.isEmpty else { return nil }
        let job = mine.removeFirst()
        waiting[source] = mine.isEmpty ? nil : mine
        count -= 1
        inWork.insert(source)
        return (job, source)
    }

    mutating func finish(_ source: Source, failed: Bool, at now: MonotonicTime) {
        inWork.remove(source)
        if waiting[source] != nil { turns.append(source) }
        guard failed else { return }
        var entry = failures.value(of: source, at: now) ?? (0, now)
        if now - entry.since >= Self.window { entry = (0, now) }
        entry.count += 1
        failures.set(entry, for: source, at: now)
    }

    /// Sources with failures that are remembered now.
    mutating func failingSourceCount(at now: MonotonicTime) -> Int { failures.count(at: now) }

    private func isClosed(to source: Source, at now: MonotonicTime) -> Bool {
        guard let entry = failures.glimpse(of: source), now - entry.since < Self.window else { return false }
        return entry.count >= limits.failuresPerMinute
    }
}
