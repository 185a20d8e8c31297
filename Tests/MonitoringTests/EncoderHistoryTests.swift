import GatewayLogging
import JSON
import Refusals
import Settings
import StageHub
import Testing
import Wire

@testable import MediaContract
@testable import Monitoring

@Suite("Encoder history")
struct EncoderHistoryTests {
    /// An encoder of 60 pictures a second that reports every two seconds.
    private static func encoder(seconds: Int, dropping: (Int) -> Int) -> [EncoderFigures] {
        var figures = EncoderFigures()
        return (0..<seconds).map { second in
            if second % 2 == 0 {
                figures.reportCount += 1
                figures.output += 120
                figures.dropped += dropping(second)
            }
            return figures
        }
    }

    private static func warnings(_ told: [EncoderFigures]) -> (warnings: [Int: String], last: EncoderFigures?) {
        var history = EncoderHistory()
        var warnings: [Int: String] = [:]
        for (second, figures) in told.enumerated() {
            warnings[second] = history.look(figures, at: MonotonicTime(nanoseconds: Int64(second) * 1_000_000_000))
        }
        return (warnings, history.lastMinute)
    }

    @Test
    func `an encoder that tells nothing is not judged`() {
        let (warnings, last) = Self.warnings(Array(repeating: EncoderFigures(), count: 90))
        #expect(warnings.isEmpty && last == nil)
    }

    @Test
    func `what is lost is warned of once a minute, and no longer when it is over`() {
        let (warnings, last) = Self.warnings(Self.encoder(seconds: 300) { (100..<170).contains($0) ? 12 : 0 })
        #expect(warnings.keys.sorted().map { $0 / 60 } == [1, 2], "\(warnings)")
        #expect(warnings.values.allSatisfy { $0.hasPrefix("the uplink dropped ") && $0.hasSuffix(": lower the bitrate") })
        #expect(last?.verdict == "the encoder's machine and its uplink keep up")
        #expect((2_900...3_600).contains(last?.output ?? 0), "a minute's: \(last?.output ?? 0)")
    }

    @Test
    func `a session tells the figures, the verdict and the warning, and metrics count them`() throws {
        let bench = try MonitoringBench()
        let contract = ContractStanding()
        let publication = try bench.publish(contract: contract)
        for figures in Self.encoder(seconds: 20, dropping: { _ in 12 }) {
            bench.second { contract.note(Self.sightings(figures)) }
        }
        let record = try #require(bench.board.session(id: "s-p1"))
        #expect(record.warnings.map(\.rule) == ["encoder"])
        #expect(bench.sampler.sample(of: record)?.encoder?.losses.first?.culprit == .uplink)
        let json = record.json(bench.sampler.sample(of: record))
        #expect(json["encoder"]?["dropped"] == 120 && json["encoder"]?["output"] == 1_200)
        #expect(json["encoder"]?["culprit"] == "uplink")
        #expect(json["now"]?["encoder"]?["verdict"] == "the uplink dropped 10 %: lower the bitrate")
        #expect(record.rulesJSON[0]?["rule"] == "videoCodec" && record.rulesJSON[0]?["ok"] == nil)
        publication.end(.closed)
        bench.second {}
        #expect(bench.exposition.contains(#"stagedoor_encoder_frames_total{protocol="rtmp",state="dropped"} 120"#))
        let fields = SessionSummary(record).fields
        #expect(fields["encoder_output"] == 1_200 && fields["encoder_dropped"] == 120)
        #expect(fields["encoder_verdict"] == "the uplink dropped 10 %: lower the bitrate")
    }

    @Test
    func `a session whose encoder tells nothing has no such member`() throws {
        let bench = try MonitoringBench()
        _ = try bench.publish(contract: ContractStanding())
        let record = try #require(bench.board.session(id: "s-p1"))
        #expect(record.json()["encoder"] == nil)
        #expect(SessionSummary(record).fields["encoder_output"] == nil)
    }

    private static func sightings(_ figures: EncoderFigures) -> ContractSightings {
        ContractSightings(
            rules: ContractSettings(), product: "obs-studio", isX264: true, judgesTracks: true, judgesKeyframes: true, faults: [],
            hasAudio: true,
            elapsed: .seconds(1), encoder: figures)
    }
}
