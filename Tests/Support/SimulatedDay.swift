import Foundation
import Glibc

/// How long the tests with a simulated clock run: ten minutes by default, a whole day in `make soak`.
public enum SimulatedDay {
    /// Seconds of simulated time, at least 60: `STAGEDOOR_SIMULATED_HOURS`.
    public static let seconds: Int = {
        let hours = ProcessInfo.processInfo.environment["STAGEDOOR_SIMULATED_HOURS"].flatMap(Double.init) ?? 1 / 6
        return max(60, Int(hours * 3_600))
    }()

    /// True in `make soak`, where a test has the process for itself.
    public static var isWhole: Bool { seconds >= 86_400 }

    /// The process' resident memory in bytes.
    public static var residentBytes: Int {
        let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(getpagesize()) : 0
    }
}
