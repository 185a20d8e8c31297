import RTCP
import Testing
import Wire

@testable import WHIPIngest

@Suite("What receiver reports say of a source (RFC 3550 §6.4.1)")
struct SourceStatisticsTests {
    @Test func `reports loss and jitter as RFC 3550 computes them`() {
        var statistics = SourceStatistics()
        for number in 0..<100 where number % 10 != 5 {
            statistics.received(
                Int64(number), timestamp: UInt32(number * 3_000),
                arrival: MonotonicTime(nanoseconds: 5_000_000_000 + Int64(number) * 33_333_333), clockRate: 90_000)
        }
        let block = statistics.report(of: 7, at: .zero)
        #expect(block.cumulativeLost == 10 && block.extendedHighestSequenceNumber == 99)
        #expect(block.fractionLost == 25)
        #expect(block.jitter <= 2)
        let result9 = statistics.report(of: 7, at: .zero).fractionLost
        #expect(result9 == 0)
    }

    @Test func `what was asked for and comes again is no jitter of the way's`() {
        var statistics = SourceStatistics()
        for number in 0..<100 {
            let isRepetition = number % 10 == 5
            let time = Int64(number) * 33_333_333 + (isRepetition ? 200_000_000 : 0)
            statistics.received(
                Int64(number), timestamp: UInt32(number * 3_000), arrival: MonotonicTime(nanoseconds: 5_000_000_000 + time),
                clockRate: 90_000, isRepetition: isRepetition)
        }
        #expect(statistics.jitter <= 2 && statistics.received == 100)
    }
}
