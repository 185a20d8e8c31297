import ArgumentParser
import EventLoop
import Foundation
import Wire

/// `stagedoor-bench floor`: what single steps cost on this machine, to stand beside a server's
/// figures; whole streams are `relay`'s.
///
/// One thread, its own CPU time, system calls and libraries only. Every figure is the least of the repetitions.
struct Floor: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "floor", abstract: "Measures what single steps cost on this machine.")

    @Option(help: "Repetitions of each measurement.")
    var repetitions = 5
    /// CPU milliseconds of one set-up's part, and microseconds.
    struct Report: Encodable {
        var tokenVerification = 0.0
        var dtlsHandshake = 0.0
        var wakeUpMicroseconds = 0.0
    }

    func run() throws {
        try print(
            report: Report(
                tokenVerification: try least(SetUpFloor.tokenVerification), dtlsHandshake: try least(SetUpFloor.dtlsHandshake),
                wakeUpMicroseconds: try least(WakeUpFloor.microseconds)))
    }

    private func least(_ measure: () throws -> Double) rethrows -> Double {
        var least = Double.infinity
        for _ in 0..<max(1, repetitions) { least = min(least, try measure()) }
        return least
    }
}

/// CPU time of this thread in the measured parts only.
struct FloorClock {
    private(set) var milliseconds = 0.0

    mutating func measure<Result>(_ body: () throws -> Result) rethrows -> Result {
        let start = EventLoop.threadCPU()
        defer { milliseconds += Double((EventLoop.threadCPU() - start).nanoseconds) / 1_000_000 }
        return try body()
    }
}
