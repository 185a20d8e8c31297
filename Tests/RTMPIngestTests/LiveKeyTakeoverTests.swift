import AMF0
import Admission
import EventLoop
import Refusals
import Settings
import StageHub
import Testing
import Wire

@testable import RTMPIngest

@Suite("A live key, and who takes it over")
struct LiveKeyTakeoverTests {
    /// While a test waits nothing but what encoders do decides: no silence does, nor a time limit.
    private static let patient: RTMPSettings = {
        var settings = RTMPSettings()
        (settings.takeoverSilence, settings.idleTimeout) = (.seconds(300), .seconds(300))
        settings.decisionTimeout = .seconds(300)
        return settings
    }()

    private func live(_ bench: IngestBench) -> FakeEncoder {
        let encoder = bench.connect(from: "192.0.2.1:1")
        encoder.connectAndPublish()
        bench.run(until: { encoder.hasStarted })
        encoder.message(9, PipelineTests.sequenceHeader)
        encoder.message(9, timestamp: 0, PipelineTests.idr)
        return encoder
    }

    @Test func `refuses the second as soon as the first completes another frame`() throws {
        let bench = try IngestBench(Self.patient)
        let first = live(bench)
        let second = bench.connect(from: "192.0.2.2:1")
        second.connectAndPublish()
        #expect(!bench.run(until: { second.isClosing || second.hasStarted }, within: .milliseconds(200)), "It is held")
        first.message(9, timestamp: 40, PipelineTests.slice)
        #expect(bench.run(until: { second.isClosing }, within: .seconds(60)))
        #expect(second.words.contains("NetStream.Publish.BadName") && second.words.contains("SD-1004"))
        #expect(!first.isClosing && bench.leases.liveCount == 1)
    }

    @Test func `takes over when the first has been silent`() throws {
        var settings = RTMPSettings()
        settings.takeoverSilence = .milliseconds(300)
        let bench = try IngestBench(settings)
        let first = live(bench)
        let second = bench.connect(from: "192.0.2.2:1")
        second.connectAndPublish()
        #expect(bench.run(until: { second.hasStarted }, within: .seconds(120)))
        #expect(bench.run(until: { first.isClosing }, within: .seconds(120)))
        #expect(first.words.contains("taken over"))
        #expect(bench.host.ends == [.takenOver])
        #expect(bench.leases.liveCount == 1)
        second.command("FCUnpublish", 9, .null, ["KEY"])
        #expect(bench.leases.liveCount == 0)
    }

    @Test func `is free for the second as soon as the first has left`() throws {
        let bench = try IngestBench(Self.patient)
        let first = live(bench)
        let second = bench.connect(from: "192.0.2.2:1")
        second.connectAndPublish()
        #expect(!bench.run(until: { second.isClosing || second.hasStarted }, within: .milliseconds(200)), "It is held")
        first.command("FCUnpublish", 9, .null, ["KEY"])
        #expect(bench.run(until: { second.hasStarted }, within: .seconds(60)))
        #expect(bench.leases.liveCount == 1)
    }

    @Test func `holds two, refuses the third at once, and forgets those that leave`() throws {
        let bench = try IngestBench(Self.patient)
        let first = live(bench)
        let held = (2...3).map { bench.connect(from: "192.0.2.\($0):1") }
        for encoder in held { encoder.connectAndPublish() }
        #expect(!bench.run(until: { held.contains { $0.isClosing } }, within: .milliseconds(100)))
        let third = bench.connect(from: "192.0.2.4:1")
        third.connectAndPublish()
        #expect(bench.run(until: { third.isClosing }, within: .seconds(60)))
        held[0].drop()
        let fourth = bench.connect(from: "192.0.2.5:1")
        fourth.connectAndPublish()
        #expect(!bench.run(until: { fourth.isClosing }, within: .milliseconds(100)), "There is room again")
        first.message(9, timestamp: 40, PipelineTests.slice)
        #expect(bench.run(until: { fourth.isClosing && held[1].isClosing }, within: .seconds(60)))
    }

    @Test func `counts no time while a publish is held`() throws {
        var settings = RTMPSettings()
        settings.publishTimeout = .seconds(3)
        settings.takeoverSilence = .seconds(5)
        let bench = try IngestBench(settings)
        _ = live(bench)
        let second = bench.connect(from: "192.0.2.2:1")
        second.connectAndPublish()
        #expect(bench.run(until: { second.hasStarted }, within: .seconds(120)))
    }
}
