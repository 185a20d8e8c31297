import Admission
import JSON
import Refusals
import StageHub
import StageMetrics
import Testing
import Wire

@testable import Monitoring

@Suite("Figures by layer")
struct LayerFiguresTests {
    private let bench: MonitoringBench
    private let publication: Publication

    init() throws {
        bench = try MonitoringBench()
        publication = try bench.publish(by: .whip)
        bench.sampler.look(at: bench.now)
    }

    private func size(_ place: UInt8, _ height: Int, rid: String = "") {
        publication.setPictureSize(
            width: height * 16 / 9, height: height, of: TrackID(.video, layer: place), rid: rid, at: bench.now)
    }

    /// Seconds in which each of the places brings so many frames of 1,000 bytes.
    private func pass(_ seconds: Int = 1, frames: [Int]) {
        for _ in 0..<seconds {
            bench.second {
                for (place, count) in frames.enumerated() {
                    for _ in 0..<count { publication.counters.video[place].count(byteCount: 1_000, endsFrame: true) }
                    guard count > 0 else { continue }
                    let run = MediaRun(track: TrackID(.video, layer: UInt8(place)), isKeyframe: false, arrival: bench.now)
                    publication.forward(UnsafeBufferPointer(start: nil, count: 0), of: run)
                }
            }
            publication.tick(at: bench.now)
        }
    }

    /// A metric's greatest value in the last minute that has some, by layer's name.
    private func latest(_ metric: String) -> [String: Double] {
        let samples = bench.kept + bench.sampler.collector.open.map { MetricSample($0.key, $0.value) }
        return samples.reduce(into: [:]) { found, sample in
            let series = sample.series
            guard series.metric.rawValue == metric, series.participantID == "p1", series.media == .video else { return }
            found[series.layer] = sample.point.maximum
        }
    }

    private func layers() throws -> [JSONValue] {
        let record = try #require(bench.board.session(id: "s-p1"))
        return record.json(bench.sampler.sample(of: record))["layers"]?.array ?? []
    }

    @Test func `each layer has its size, bitrate and frame rate by its name, which its rid does not decide`() throws {
        for (place, height) in [180, 720, 360].enumerated() { size(UInt8(place), height, rid: "r\(place)") }
        pass(frames: [15, 60, 30])
        #expect(latest("PublishResolution") == ["hi": 720, "mid": 360, "low": 180])
        #expect(latest("PublishBitrate") == ["hi": 480_000, "mid": 240_000, "low": 120_000])
        #expect(latest("PublishFramerate") == ["hi": 60, "mid": 30, "low": 15])
        let told = try layers()
        #expect(told.map { $0["name"]?.string } == ["hi", "mid", "low"])
        #expect(told.map { $0["rid"]?.string } == ["r1", "r2", "r0"])
        #expect(told.map { $0["width"]?.integer } == [1_280, 640, 320])
        #expect(told.map { $0["bitsPerSecond"]?.integer } == [480_000, 240_000, 120_000])
        #expect(told.allSatisfy { $0["active"] == true })
    }

    @Test func `when ranks change, what comes counts for whoever has the name now`() throws {
        size(0, 720)
        size(1, 360)
        pass(frames: [10, 5])
        #expect(latest("PublishBitrate") == ["hi": 80_000, "low": 40_000])
        bench.pass(.seconds(60))
        size(1, 1_080)
        pass(2, frames: [10, 20])
        #expect(latest("PublishResolution") == ["hi": 1_080, "low": 720])
        #expect(latest("PublishBitrate") == ["hi": 160_000, "low": 80_000])
        #expect(latest("PublishFramerate") == ["hi": 20, "low": 10])
        #expect(try layers().map { $0["width"]?.integer } == [1_920, 1_280])
    }

    @Test func `the only layer has no name until a second one joins`() throws {
        size(0, 720)
        pass(frames: [10])
        #expect(latest("PublishBitrate") == ["no-rid": 80_000])
        size(1, 360)
        bench.pass(.seconds(60))
        pass(frames: [10, 5])
        #expect(Set(latest("PublishBitrate").keys) == ["no-rid", "hi", "low"])
        #expect(try layers().map { $0["name"]?.string } == ["hi", "low"])
    }

    @Test func `a layer that is paused keeps its name, brings nothing, and is not the picture`() throws {
        size(0, 720)
        size(1, 360)
        pass(2, frames: [10, 5])
        pass(3, frames: [0, 5])
        let told = try layers()
        #expect(told.map { $0["name"]?.string } == ["hi", "low"])
        #expect(told.map { $0["active"] } == [false, true])
        #expect(told.map { $0["bitsPerSecond"]?.integer } == [0, 40_000])
        let record = try #require(bench.board.session(id: "s-p1"))
        #expect(record.json(bench.sampler.sample(of: record))["now"]?["picture"] == "640x360")
        pass(frames: [10, 5])
        #expect(try layers().map { $0["active"] } == [true, true])
    }

    @Test func `of a publish that has ended the layers are still told, and none is active`() throws {
        size(0, 720)
        pass(frames: [10])
        publication.end(.closed)
        let told = try layers()
        #expect(told.map { $0["height"]?.integer } == [720])
        #expect(told.map { $0["active"] } == [false])
    }
}
