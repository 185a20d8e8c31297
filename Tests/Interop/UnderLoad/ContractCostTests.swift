import Foundation
import Testing

extension UnderLoad {
    /// What the contract costs on the media path. CPU time of one thread: a busy machine makes it little worse.
    @Suite struct ContractCost {
        /// For each packet, whose way through the gateway costs some 3 µs: the look at it must not be felt.
        static let maximumNanoseconds = 150.0

        @Test(.timeLimit(.minutes(10)))
        func `a packet costs less than 150 ns and no allocation`() throws {
            let counter = try Workspace.preload("allocation_count.c")
            let line = [
                "env", "LD_PRELOAD=\(counter.path)", try Workspace.program("stagedoor-bench"), "contract", "--flv",
                try Clip.full.file(),
            ]
            // The best of three: what disturbs a measurement makes it longer.
            let reports = try (0..<3).map { _ in
                try JSONDecoder().decode(Report.self, from: Data(ProgramRun.output(of: line, within: .seconds(30)).utf8))
            }
            for (name, figures) in [("WHIP", reports.map(\.whip)), ("RTMP", reports.map(\.rtmp))] {
                let best = try #require(figures.map(\.nanosecondsPerPacket).min())
                print("contract by \(name): \(Int(best)) ns a packet over \(figures[0].packets) packets")
                #expect(best < Self.maximumNanoseconds)
                #expect(figures.allSatisfy { $0.packets > 10_000 })
                #expect(figures.map(\.allocations) == [0, 0, 0])
            }
            #expect(reports.allSatisfy { $0.control > 0 }, "the counter must count")
        }

        private struct Report: Decodable {
            struct Figure: Decodable {
                var packets: Int
                var nanosecondsPerPacket: Double
                var allocations: Int?
            }
            var whip: Figure
            var rtmp: Figure
            var control: Int
        }
    }
}
