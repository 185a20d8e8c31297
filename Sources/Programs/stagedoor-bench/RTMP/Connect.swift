import ArgumentParser
import EventLoop
import Foundation
import Wire

/// `stagedoor-bench connect`: how long from connect to publish accepted, and how many a second.
struct Connect: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "connect", abstract: "Connects, publishes, ends, again and again; prints set-up times and rate.")

    @Argument(help: "Server and application, such as rtmp://127.0.0.1:1935/app; {} in it is the number of the attempt.")
    var url: String
    @Option(help: "Stream key (repeat it: one for each thread); {} in it is the number of the attempt.")
    var key: [String]
    @Option(help: "Attempts in all.")
    var count = 1_000
    @Option(help: "Attempts at a time; more than keys is refused by a server that takes one publisher per key.")
    var concurrency = 1
    @Option(help: "How connections end: fin or rst.")
    var ending: RTMPClient.Ending = .fin
    @Option(help: "A server process whose CPU and memory are reported.")
    var pid: Int32?

    struct Report: Encodable {
        var accepted = 0
        var refused = 0
        var perSecond = 0.0
        var milliseconds = Percentiles.Summary()
        var cpuMillisecondsPerAttempt: Double?
        var process: ProcessUse?
    }

    func run() throws {
        let before = pid.flatMap(ProcessFigures.init)
        let start = EventLoop.monotonicNow()
        let gathered = Lock(Attempts())
        let threads = try (0..<concurrency).map { [url, key, count, concurrency, ending] thread in
            try WorkerThread.start(name: "connect-\(thread)") {
                let own = Attempts(
                    url: url, key: key[thread % key.count], ending: ending,
                    numbers: stride(from: thread, to: count, by: concurrency))
                gathered.withLock { $0.merge(own) }
            }
        }
        for thread in threads { thread.join() }
        let seconds = (EventLoop.monotonicNow() - start).inSeconds
        let attempts = gathered.withLock { $0 }
        var report = Report(accepted: attempts.times.count, refused: attempts.refused, milliseconds: attempts.times.summary)
        report.perSecond = Double(report.accepted) / seconds
        report.process = ProcessUse(before: before, pid: pid, seconds: seconds, streams: nil)
        report.cpuMillisecondsPerAttempt = report.process.map { $0.cpuMillisecondsPerSecond * seconds / Double(count) }
        try print(report: report)
    }
}

/// What one thread tried, one attempt after the other.
private struct Attempts: Sendable {
    var times = Percentiles()
    var refused = 0

    init() {}

    init(url: String, key: String, ending: RTMPClient.Ending, numbers: some Sequence<Int>) {
        for number in numbers {
            let start = EventLoop.monotonicNow()
            guard let client = try? RTMPClient(url: "\(url)/\(key)".replacingOccurrences(of: "{}", with: "\(number)")) else {
                refused += 1
                continue
            }
            times.add(nanoseconds: (EventLoop.monotonicNow() - start).nanoseconds)
            if ending == .rst { client.reset() }
        }
    }

    mutating func merge(_ other: Attempts) {
        times.merge(other.times)
        refused += other.refused
    }
}
