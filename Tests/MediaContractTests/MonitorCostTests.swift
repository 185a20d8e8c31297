import Foundation
import H264
import MediaContract
import Settings
import TestSupport
import Testing
import Wire

@Suite("ContractMonitor, cost", .serialized)
struct MonitorCostTests {
    /// The payloads of two seconds at 2.5 Mbit/s, cut as a WHIP publisher cuts them.
    private func payloads() -> [(payload: [UInt8], time: Int64)] {
        var stream = SyntheticStream()
        stream.bytesPerPicture = 10_400
        return (0..<60).flatMap { number -> [(payload: [UInt8], time: Int64)] in
            let units = stream.accessUnit(number)
            return units.flatMap { unit -> [(payload: [UInt8], time: Int64)] in
                guard unit.count > 1_200 else { return [(unit, Int64(number) * 3_000)] }
                let bodies = ByteFeeder.pieces(of: Array(unit.dropFirst()), size: 1_180)
                return bodies.enumerated().map { index, body in
                    let flags: UInt8 = index == 0 ? 0x80 : index == bodies.count - 1 ? 0x40 : 0
                    return ([unit[0] & 0xE0 | 28, flags | unit[0] & 0x1F] + body, Int64(number) * 3_000)
                }
            }
        }
    }

    private func run(
        _ monitor: inout ContractMonitor, _ found: inout NALUnitList, _ payloads: [(payload: [UInt8], time: Int64)], round: Int,
        _ layer: UInt8 = 0, number: inout Int64
    ) {
        let start = Int64(round) * 180_000
        for (payload, time) in payloads {
            number += 1
            let moment = MediaMoment(
                mediaTime: start + time, arrival: MonotonicTime(nanoseconds: 1_000_000_000 + (start + time) * 100_000 / 9))
            payload.withUnsafeBytes {
                found.find(inPayload: $0)
                monitor.rtpPayload(found, layer: layer, sequenceNumber: number, at: moment)
            }
        }
    }

    @Test
    func `packets that break no rule allocate nothing`() throws {
        let payloads = payloads()
        var monitor = ContractMonitor(rules: ContractSettings(), ingest: .whip, product: "")
        var (found, number) = (NALUnitList(), Int64(0))
        run(&monitor, &found, payloads, round: 0, number: &number)
        let count = try AllocationCounter.count { run(&monitor, &found, payloads, round: 1, number: &number) }
        let counted = try AllocationCounter.count { _ = Array(repeating: number, count: 4) }
        #expect(counted > 0, "the counter must count")
        #expect(count == 0)
        #expect(!monitor.hasNews)
    }

    @Test
    func `nor do packets of three layers`() throws {
        let payloads = payloads()
        var monitor = ContractMonitor(rules: ContractSettings(), ingest: .whip, product: "")
        var (found, number) = (NALUnitList(), Int64(0))
        for layer in 0..<3 as Range<UInt8> { run(&monitor, &found, payloads, round: 0, layer, number: &number) }
        let count = try AllocationCounter.count {
            for layer in 0..<3 as Range<UInt8> { run(&monitor, &found, payloads, round: 1, layer, number: &number) }
        }
        #expect(count == 0)
        #expect(!monitor.hasNews)
    }

    @Test(.enabled("`make soak` judges time") { ProcessInfo.processInfo.environment["STAGEDOOR_UNDER_LOAD"] != nil })
    func `a packet costs some tens of nanoseconds`() {
        let payloads = payloads()
        var monitor = ContractMonitor(rules: ContractSettings(), ingest: .whip, product: "")
        var (found, number) = (NALUnitList(), Int64(0))
        var best = Double.infinity
        for round in 0..<50 {
            let start = DispatchTime.now().uptimeNanoseconds
            run(&monitor, &found, payloads, round: round, number: &number)
            best = min(best, Double(DispatchTime.now().uptimeNanoseconds - start) / Double(payloads.count))
        }
        #expect(!monitor.hasNews)
        print("contract: \(Int(best)) ns a packet")
        #if !DEBUG
            #expect(best < 150)
        #endif
    }
}
