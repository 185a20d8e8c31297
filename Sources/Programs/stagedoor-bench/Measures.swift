import Foundation

/// Durations gathered one by one, reported as percentiles in milliseconds.
struct Percentiles: Sendable {
    struct Summary: Encodable {
        var count = 0
        var p50 = 0.0
        var p99 = 0.0
        var maximum = 0.0
    }

    /// 64 MB at most; what comes later only counts.
    static let maximumSamples = 8_000_000

    private var nanoseconds: [Int64] = []
    private(set) var count = 0

    mutating func add(nanoseconds value: Int64) {
        count += 1
        if nanoseconds.count < Self.maximumSamples { nanoseconds.append(value) }
    }

    mutating func merge(_ other: Percentiles) {
        count += other.count
        nanoseconds += other.nanoseconds
    }

    var summary: Summary {
        guard !nanoseconds.isEmpty else { return Summary() }
        let sorted = nanoseconds.sorted()
        func milliseconds(_ share: Double) -> Double {
            (Double(sorted[Int(Double(sorted.count - 1) * share)]) / 1_000).rounded() / 1_000
        }
        return Summary(count: count, p50: milliseconds(0.5), p99: milliseconds(0.99), maximum: milliseconds(1))
    }
}

/// What a process has used so far, read from /proc.
struct ProcessFigures: Encodable {
    /// On a CPU, all threads that live now, from schedstat: nanoseconds, where `stat` counts ticks of 10 ms.
    var cpuMilliseconds: Double
    var rssKilobytes: Int
    var peakRSSKilobytes: Int
    var threads: Int
    var descriptors: Int

    /// Nil when the process is gone or may not be looked at.
    init?(pid: Int32) {
        let files = FileManager.default
        guard let tasks = try? files.contentsOfDirectory(atPath: "/proc/\(pid)/task"),
            let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        else { return nil }
        func kilobytes(_ name: String) -> Int {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
            return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
        }
        let nanoseconds = tasks.compactMap { task -> Int? in
            let schedstat = try? String(contentsOfFile: "/proc/\(pid)/task/\(task)/schedstat", encoding: .utf8)
            return schedstat?.split(separator: " ").first.flatMap { Int($0) }
        }
        cpuMilliseconds = Double(nanoseconds.reduce(0, +)) / 1_000_000
        (rssKilobytes, peakRSSKilobytes, threads) = (kilobytes("VmRSS"), kilobytes("VmHWM"), tasks.count)
        descriptors = (try? files.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count) ?? 0
    }
}

/// What a process used between two looks at it.
struct ProcessUse: Encodable {
    var before: ProcessFigures
    var after: ProcessFigures
    var cpuMillisecondsPerSecond: Double
    /// Present where streams were published: the figure to compare servers by.
    var cpuMillisecondsPerStreamSecond: Double?

    init?(before: ProcessFigures?, pid: Int32?, seconds: Double, streams: Int?) {
        guard let before, let pid, let after = ProcessFigures(pid: pid), seconds > 0 else { return nil }
        (self.before, self.after) = (before, after)
        cpuMillisecondsPerSecond = (after.cpuMilliseconds - before.cpuMilliseconds) / seconds
        cpuMillisecondsPerStreamSecond = streams.map { cpuMillisecondsPerSecond / Double(max(1, $0)) }
    }
}

/// How often this thread has asked for memory, as a preloaded library counts it (Tests/Interop/Clients/allocation_count.c).
///
/// A program cannot see its own calls of `malloc` otherwise: the Swift runtime's hooks know of objects alone.
struct AllocationCount {
    private typealias Count = @convention(c) () -> UInt64

    private let count: Count

    /// Nil when the library is not preloaded.
    init?() {
        guard let symbol = unsafe dlsym(dlopen(nil, RTLD_NOW), "stagedoor_allocation_count") else { return nil }
        count = unsafe unsafeBitCast(symbol, to: Count.self)
    }

    var current: Int { Int(count()) }
}
