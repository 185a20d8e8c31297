import Foundation

/// What a process has used so far, read from /proc.
struct ProcessFigures: Encodable {
    /// On a CPU, all threads that live now, from schedstat: nanoseconds, where `stat` would tell ticks of 10 ms.
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
