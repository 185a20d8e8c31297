import EventLoop
import Glibc
import Testing
import Wire

@testable import GatewayLogging

@Suite("Log writer", .timeLimit(.minutes(10)))
struct LogWriterTests {
    private static func pipe() throws -> (read: CInt, write: CInt) {
        var ends: [CInt] = [0, 0]
        try #require(Glibc.pipe(&ends) == 0)
        return (ends[0], ends[1])
    }

    /// Everything until the writing end is closed.
    private static func text(of descriptor: CInt) -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count <= 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += buffer[..<count]
        }
    }

    private static func record(_ event: String) -> LogRecord {
        LogRecord(time: WallTime(secondsSince1970: 0), level: .info, event: event, fields: [:])
    }

    @Test func `writes every event in order, from many threads`() throws {
        let ends = try Self.pipe()
        let writer = try LogWriter(descriptor: ends.write, format: .text)
        let threads = try (0..<4).map { thread in
            try WorkerThread.start(name: "log test") {
                for number in 0..<100 { writer.write(Self.record("t\(thread)_\(number)")) }
            }
        }
        for thread in threads { thread.join() }
        writer.close()
        close(ends.write)
        let events = Self.text(of: ends.read).split(separator: "\n").compactMap { $0.split(separator: " ").last }
        #expect(events.count == 400)
        #expect(events.filter { $0.hasPrefix("t2_") } == (0..<100).map { Substring("t2_\($0)") })
        close(ends.read)
    }

    @Test func `drops and says so when nobody reads`() throws {
        let ends = try Self.pipe()
        let writer = try LogWriter(descriptor: ends.write, format: .text)
        for number in 0..<50_000 { writer.write(Self.record("event_\(number)")) }
        #expect(writer.droppedCount > 0)
        let reader = Lock("")
        let thread = try WorkerThread.start(name: "log reader") {
            let text = Self.text(of: ends.read)
            reader.withLock { $0 = text }
        }
        writer.close()
        close(ends.write)
        thread.join()
        let reported = reader.withLock { $0 }.split(separator: "\n").filter { $0.contains("log_events_dropped") }
        #expect(reported.compactMap { $0.split(separator: "=").last.flatMap { Int($0) } }.reduce(0, +) == writer.droppedCount)
        close(ends.read)
    }

    @Test func `counts what a full disk does not take`() throws {
        let full = open("/dev/full", O_WRONLY)
        try #require(full >= 0)
        let writer = try LogWriter(descriptor: full, format: .text)
        for number in 0..<5 { writer.write(Self.record("event_\(number)")) }
        while writer.droppedCount < 5 { sched_yield() }
        // A second turn, which fails to tell of the first.
        for number in 5..<10 { writer.write(Self.record("event_\(number)")) }
        writer.close()
        close(full)
        #expect(writer.droppedCount == 10)
    }

    /// What the descriptor means is changed while a long line is on its way: a pipe that is full, a
    /// full disk, one with room again.
    @Test func `a line after one that was cut off stands on a line of its own`() throws {
        let (cut, whole) = (try Self.pipe(), try Self.pipe())
        let full = open("/dev/full", O_WRONLY)
        try #require(full >= 0)
        let writer = try LogWriter(descriptor: cut.write, format: .text, patience: .milliseconds(20))
        writer.write(Self.record(String(repeating: "x", count: 1 << 20)))
        var begun = pollfd(fd: cut.read, events: Int16(POLLIN), revents: 0)
        let count = poll(&begun, 1, -1)
        try #require(count == 1)
        dup2(full, cut.write)
        while writer.droppedCount == 0 { sched_yield() }
        dup2(whole.write, cut.write)
        writer.write(Self.record("after"))
        writer.close()
        for descriptor in [cut.read, cut.write, full, whole.write] { close(descriptor) }
        let text = Self.text(of: whole.read)
        #expect(text.hasPrefix("\n") && text.contains(" after\n") && text.contains(" log_events_dropped count=1\n"), "\(text)")
        #expect(writer.droppedCount == 1)
        close(whole.read)
    }

    @Test func `closing does not wait for ever for a reader who reads nothing`() throws {
        let ends = try Self.pipe()
        let writer = try LogWriter(descriptor: ends.write, format: .text, patience: .milliseconds(20))
        let events = 0..<8_000
        for number in events { writer.write(Self.record("event_\(number)")) }
        writer.close()
        close(ends.write)
        let text = Self.text(of: ends.read)
        #expect(text.contains(" event_0\n") && text.utf8.count < 28 * events.count, "as much as the pipe takes")
        close(ends.read)
    }

    @Test func `the process's log starts, filters and stops`() throws {
        let ends = try Self.pipe()
        Log.event(.error, "before_start")
        try Log.start(descriptor: ends.write, level: .warning)
        Log.event(.info, "too_quiet")
        Log.event(.warning, "loud", ["port": 8080])
        Log.setLevel(.debug)
        Log.event(.debug, "detail")
        Log.stop()
        Log.event(.error, "after_stop")
        close(ends.write)
        let text = Self.text(of: ends.read)
        #expect(text.contains(#""event":"loud","port":8080}"#))
        #expect(text.contains("detail"))
        #expect(text.split(separator: "\n").count == 2)
        close(ends.read)
    }
}
