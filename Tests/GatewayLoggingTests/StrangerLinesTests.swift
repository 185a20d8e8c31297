import EventLoop
import Glibc
import TestSupport
import Testing
import Wire

@testable import GatewayLogging

@Suite("Lines that strangers cause", .timeLimit(.minutes(10)))
struct StrangerLinesTests {
    private let clock = FakeClock()

    @Test func `ten a second of each kind are written, and the others summed up once`() {
        var lines = StrangerLines()
        let junk = (0..<9_000).count { _ in lines.admits("junk", at: clock.now) }
        let other = (0..<10).count { _ in lines.admits("other", at: clock.now) }
        #expect(junk == 10 && other == 10)
        #expect(lines.nextSum == clock.now + .seconds(1))
        let sums = [999, 1, 0].map { lines.takeSums(at: clock.advance(by: .milliseconds($0))) }
        #expect(sums == [[], [.init(event: "junk", count: 8_990)], []])
        #expect(lines.nextSum == nil)
        let isHeardAgain = lines.admits("junk", at: clock.now)
        #expect(isHeardAgain)
    }

    @Test func `what is written and what is summed up are all there was, whenever they come`() {
        var (lines, random) = (StrangerLines(), SystemRandomNumberGenerator())
        var (told, all) = (0, 0)
        for _ in 0..<20_000 {
            all += 1
            if lines.admits("junk", at: clock.advance(by: .microseconds(Int64.random(in: 0...40_000, using: &random)))) {
                told += 1
            }
            if Int.random(in: 0..<50, using: &random) == 0 { told += lines.takeSums(at: clock.now).reduce(0) { $0 + $1.count } }
        }
        told += lines.takeSums(at: clock.advance(by: .seconds(1))).reduce(0) { $0 + $1.count }
        #expect(told == all)
    }

    @Test func `the writer tells the sum by itself, though nothing else is logged`() throws {
        var ends: [CInt] = [0, 0]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let writer = try LogWriter(descriptor: ends[1], format: .json)
        let now = EventLoop.monotonicNow()
        for _ in 0..<1_000 where writer.admitsStranger("junk", at: now) {
            writer.write(LogRecord(time: EventLoop.wallNow(), level: .info, event: "junk", fields: [:]))
        }
        var text = ""
        while !text.contains("lines_left_out") {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = read(ends[0], &buffer, buffer.count)
            try #require(count > 0)
            text += String(decoding: buffer[..<count], as: UTF8.self)
        }
        #expect(text.split(separator: "\n").count { $0.contains(#""event":"junk""#) } == 10)
        #expect(text.contains(#""event":"lines_left_out","of":"junk","count":990}"#))
        writer.close()
    }
}
