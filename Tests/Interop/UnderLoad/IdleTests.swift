import Foundation
import Testing

extension UnderLoad {
    /// A gateway without streams sleeps.
    @Suite struct Idle {
        private static let seconds = 4

        @Test(.timeLimit(.minutes(10)))
        func `without a stream no thread wakes more than three times a second`() throws {
            let gateway = try Gateway()
            // The first second of life still writes, resolves and says what it found.
            expect("the gateway has settled", within: .seconds(20)) { (try? Self.wakeUps(of: gateway.pid, in: 1)) ?? .max < 10 }
            let perThread = try Self.wakeUpsByThread(of: gateway.pid, in: Self.seconds)
            print("idle, wake-ups in \(Self.seconds) s: \(perThread.sorted { $0.key < $1.key })")
            #expect(!perThread.isEmpty)
            for (thread, count) in perThread { #expect(count <= 3 * Self.seconds, "\(thread)") }
            gateway.stop()
        }

        private static func wakeUps(of pid: Int32, in seconds: Int) throws -> Int {
            try wakeUpsByThread(of: pid, in: seconds).values.reduce(0, +)
        }

        /// Voluntary context switches, which other programs on the machine do not change.
        private static func wakeUpsByThread(of pid: Int32, in seconds: Int) throws -> [String: Int] {
            let before = try voluntarySwitches(of: pid)
            Thread.sleep(forTimeInterval: Double(seconds))
            return try voluntarySwitches(of: pid).reduce(into: [:]) { result, entry in
                result[entry.key] = entry.value - (before[entry.key] ?? entry.value)
            }
        }

        private static func voluntarySwitches(of pid: Int32) throws -> [String: Int] {
            let tasks = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/task")
            return tasks.reduce(into: [:]) { result, task in
                guard let status = try? String(contentsOfFile: "/proc/\(pid)/task/\(task)/status", encoding: .utf8) else {
                    return
                }
                func value(_ name: String) -> Substring? {
                    status.split(separator: "\n").first { $0.hasPrefix(name) }?.split(whereSeparator: \.isWhitespace).last
                }
                let name = value("Name:").map(String.init) ?? ""
                result["\(name) \(task)"] = value("voluntary_ctxt_switches:").flatMap { Int($0) } ?? 0
            }
        }
    }
}
