import H264
import MediaContract
import TestSupport
import Testing

/// One stream, cut in every way that RTMP and WebRTC know: what is found, and at which picture, stays the same.
@Suite("ContractMonitor, any split", .serialized)
struct SplitInvarianceTests {
    /// What came up, by the picture that brought it.
    struct Finding: Equatable {
        var picture: Int
        var rules: [ContractRule]
        var isFault: Bool
    }

    private func findings(
        _ units: [[[UInt8]]], _ form: StreamFeeder.Form, _ ingest: ContractMonitor.Ingest, seed: UInt64
    ) -> [Finding] {
        var feeder = StreamFeeder(form, ingest: ingest, seed: seed)
        var findings: [Finding] = []
        for (picture, unit) in units.enumerated() {
            let known = feeder.news.count
            feeder.feed(unit)
            findings += feeder.news[known...].map { news in
                switch news {
                case .warning(let warning): Finding(picture: picture, rules: [warning.fault.rule], isFault: false)
                case .disconnect(_, let faults): Finding(picture: picture, rules: faults.map(\.rule), isFault: true)
                }
            }
        }
        return findings
    }

    /// - Returns: what RTMP's whole access units show under the rules of each protocol.
    private func expectSame(_ units: [[[UInt8]]], seeds: ClosedRange<UInt64>, _ name: String) -> [[Finding]] {
        [ContractMonitor.Ingest.rtmp, .whip].map { ingest in
            let whole = findings(units, .accessUnits, ingest, seed: 1)
            for form in StreamFeeder.Form.allCases {
                for seed in seeds { #expect(findings(units, form, ingest, seed: seed) == whole, "\(name) as \(form), \(seed)") }
            }
            return whole
        }
    }

    @Test(arguments: ContractMonitorVideoTests.cases)
    func `a stream with a fault`(_ item: ContractMonitorVideoTests.Case) {
        var stream = SyntheticStream()
        stream.sei = SyntheticStream.x264("bframes=2 keyint=250 keyint_min=25")
        item.change(&stream)
        // Of a first picture in packets nobody can know whether it is whole: this one has nothing wrong with it.
        let units = [SyntheticStream().accessUnit(0)] + (0..<240).map(stream.accessUnit)
        let found = expectSame(units, seeds: 1...4, item.testDescription)
        #expect(found.allSatisfy { $0.count { $0.isFault } == 1 })
    }

    @Test(
        arguments: [
            (["-profile:v", "high", "-bf", "2", "-g", "250", "-slices", "4"], ContractRule.bFrames),
            (["-profile:v", "main", "-flags", "+ildct+ilme", "-bf", "0", "-g", "60"], .videoCodec),
            (["-profile:v", "baseline", "-g", "250", "-x264opts", "slice-max-size=700"], nil),
            (["-profile:v", "baseline", "-g", "30"], nil),
        ] as [([String], ContractRule?)])
    func `a stream of x264`(_ options: [String], _ rule: ContractRule?) throws {
        let units = try EncodedStreamTests.accessUnits(
            "testsrc2=s=320x180:r=30", seconds: 10, ["-preset", "ultrafast"] + options)
        for found in expectSame(units, seeds: 1...3, options.joined(separator: " ")) {
            #expect(found.last { $0.isFault }?.rules.first == rule)
        }
    }
}
