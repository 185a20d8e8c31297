import Foundation
import Testing

extension Interop {
    /// What operators are told of layers, whoever sends them.
    @Suite struct LayerFigures {
        @Test(.timeLimit(.minutes(10)))
        func `every layer of a publisher with the faults of OBS comes in with its size, rates and losses`() throws {
            let gateway = try Gateway()
            let encoder = try Encoder.simulcast(to: gateway, seconds: Encoder.untilStopped, options: ["--loss", "2"])
            try expectLayers(gateway, sizes: ["1280x720", "640x360", "320x180"], rids: ["0", "1", "2"])
            try expect("series by layer", within: .seconds(60)) {
                let metrics = try gateway.signed("v1/stages/\(try #require(gateway.quickstart.stageId))/metrics")
                return ["hi", "mid", "low"].allSatisfy { metrics.contains("\"\($0)\"") }
            }
            // So many are not of sound alone.
            try expect("losses, mended and not", within: .seconds(60)) {
                let totals = try gateway.liveTotals()
                return totals.contains { $0.recoveredPackets > 0 && $0.lostPackets > 20 }
            }
            #expect(encoder.interrupt(within: .seconds(60)) == 0, "\(encoder.output)")
            let report = try JSONDecoder().decode(BenchReport.self, from: Data(encoder.lastLine.utf8))
            #expect(report.layers[0].retransmitted > 0 && report.layers[0].crossed == 0)
            #expect(report.layers.dropFirst().contains { $0.crossed > 0 }, "\(report)")
            try expect("its end", within: .seconds(60)) { try !gateway.endedSessions().isEmpty }
            let media = try #require(try gateway.endedSessions().first).media
            let layers = try #require(media.layers)
            #expect(layers.map(\.rid) == ["0", "1", "2"])
            #expect(layers.reduce(0) { $0 + $1.packets } == media.video.packets && layers.allSatisfy { $0.packets > 0 })
            #expect(layers[0].recovered > 0 && layers.dropFirst().allSatisfy { $0.recovered == 0 }, "\(layers)")
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `every track of Enhanced RTMP comes in with its size and rates`() throws {
            let gateway = try Gateway()
            let encoder = try Encoder.multitrack(to: gateway, seconds: Encoder.untilStopped)
            try expectLayers(gateway, sizes: ["1280x720", "640x360", "320x180"], rids: ["0", "1", "2"])
            encoder.interrupt()
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `a layer that rests is paused, and goes on`() throws {
            let gateway = try Gateway()
            let encoder = try Encoder.simulcast(to: gateway, seconds: Encoder.untilStopped, options: ["--rest", "0:30-60"])
            try expectLayers(gateway, sizes: ["1280x720", "640x360", "320x180"], rids: ["0", "1", "2"])
            try expect("a pause", within: .seconds(60)) { try gateway.liveLayers().map(\.active) == [false, true, true] }
            #expect(try gateway.liveLayers().map(\.name) == ["hi", "mid", "low"], "it keeps its place")
            try expect("its end", within: .seconds(60)) { try gateway.liveLayers().allSatisfy(\.active) }
            encoder.interrupt()
            gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `every layer of Chromium comes in with its size`() throws {
            let gateway = try Gateway()
            let browser = try Encoder.chromium(to: gateway, seconds: Encoder.untilStopped)
            try expect("three layers", within: .seconds(120)) { try gateway.liveLayers().count { $0.bitsPerSecond > 0 } == 3 }
            let layers = try gateway.liveLayers()
            #expect(
                layers.map(\.name) == ["hi", "mid", "low"] && layers.map(\.rid) == ["h", "m", "l"],
                "\(layers) \(browser.output) \(gateway.log.suffix(1_000))")
            #expect(
                zip(layers, layers.dropFirst()).allSatisfy { $0.width == 2 * $1.width && $0.height == 2 * $1.height }, "\(layers)"
            )
            browser.kill()
            gateway.stop()
        }

        private func expectLayers(_ gateway: Gateway, sizes: [String], rids: [String]) throws {
            try expect("three layers with their rates", within: .seconds(60)) {
                try gateway.liveLayers().count { $0.bitsPerSecond > 0 && $0.framesPerSecond > 0 } == 3
            }
            let layers = try gateway.liveLayers()
            #expect(layers.map(\.name) == ["hi", "mid", "low"], "\(layers)")
            #expect(layers.map { "\($0.width)x\($0.height)" } == sizes)
            #expect(layers.map(\.rid) == rids)
        }

        /// What `stagedoor-bench` says it did.
        private struct BenchReport: Decodable {
            struct Layer: Decodable {
                var retransmitted: Int
                var crossed: Int
            }
            var layers: [Layer]
        }
    }
}
