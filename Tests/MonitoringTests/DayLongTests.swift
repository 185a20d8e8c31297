import Admission
import Refusals
import StageHub
import TestSupport
import Testing

@testable import Monitoring

/// Five publishes and a refusal a second beside steady streams: what an operator is shown stays bounded.
@Suite("Monitoring, a day long", .serialized)
struct DayLongTests {
    @Test(.timeLimit(.minutes(10)))
    func `churn leaves neither memory nor metrics behind`() throws {
        let bench = try MonitoringBench()
        let steady = try (0..<10).map { try bench.publish("steady\($0)", stage: "steady") }
        var (resident, lines) = (0, 0)
        for second in 0..<SimulatedDay.seconds {
            let passing = try (0..<5).map {
                let number = second * 5 + $0
                return try bench.publish("p\(number)", stage: "stage\(number % 2_000)", by: number % 3 == 0 ? .whip : .rtmp)
            }
            bench.board.note(
                RefusedAttempt(
                    Refusal(.unknownStreamKey), of: nil, by: .rtmp, from: MonitoringBench.source, userAgent: "churn/\(second)"))
            bench.second {
                for publication in steady + passing {
                    for _ in 0..<30 { publication.counters[.video].count(byteCount: 10_000, endsFrame: true) }
                    for _ in 0..<50 { publication.counters[.audio].count(byteCount: 160, endsFrame: true) }
                }
            }
            for publication in passing { publication.end(second % 2 == 0 ? .closed : .connectionLost) }
            // Stages' metrics are kept for some hours: from then on one goes for each that comes.
            if second == SimulatedDay.seconds * 3 / 4 {
                (resident, lines) = (SimulatedDay.residentBytes, bench.exposition.count)
            }
        }
        let growth = SimulatedDay.residentBytes - resident
        print("\(SimulatedDay.seconds) simulated seconds of churn: memory grew by \(growth) bytes in the last quarter")
        #expect(bench.board.live.count == steady.count)
        #expect(bench.board.ended.count <= SessionBoard.maximumEnded)
        #expect(bench.board.refused.count <= SessionBoard.maximumRefused)
        #expect(abs(bench.exposition.count - lines) < 1_000)
        if SimulatedDay.isWhole { #expect(growth < 8 << 20) }
        for publication in steady { publication.end(.closed) }
    }
}
