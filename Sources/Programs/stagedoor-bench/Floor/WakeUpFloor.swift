import EventLoop
import Glibc

/// What it costs to wake a thread that waits: each hand-over between threads, and each packet to a
/// process of this machine, pays it.
enum WakeUpFloor {
    private static let count = 5_000

    /// CPU microseconds of the thread that wakes.
    static func microseconds() throws -> Double {
        let (call, answer) = (try pipe(), try pipe())
        defer { for descriptor in [call.read, call.write, answer.read, answer.write] { close(descriptor) } }
        let waiting = try WorkerThread.start(name: "waits") {
            for _ in 0..<count {
                take(call.read)
                put(answer.write)
            }
        }
        var clock = FloorClock()
        for _ in 0..<count {
            // It sleeps again by then.
            usleep(20)
            clock.measure { put(call.write) }
            take(answer.read)
        }
        waiting.join()
        return clock.milliseconds * 1_000 / Double(count)
    }

    private static func pipe() throws -> (read: CInt, write: CInt) {
        var ends: [CInt] = [0, 0]
        guard unsafe Glibc.pipe(&ends) == 0 else { throw SystemError(call: "pipe") }
        return (ends[0], ends[1])
    }

    private static func put(_ descriptor: CInt) {
        var byte: UInt8 = 0
        _ = unsafe write(descriptor, &byte, 1)
    }

    private static func take(_ descriptor: CInt) {
        var byte: UInt8 = 0
        _ = unsafe read(descriptor, &byte, 1)
    }
}
