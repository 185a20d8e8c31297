import Foundation
import Testing

extension UnderLoad {
    /// Two Chromium viewers of one publisher, each behind a way of its own: whom it can carry, gets it.
    @Suite struct ViewerLayers {
        @Test(.timeLimit(.minutes(10)))
        func `a wide and a narrow way carry what they can, and what changes is followed`() throws {
            let gateway = try Gateway()
            let publisher = try Encoder.simulcast(Self.layers, to: gateway, seconds: 150)
            defer { publisher.kill() }
            try expect("three layers are known\n\(publisher.output)", within: .seconds(20)) {
                try gateway.liveLayers().count == 3
            }
            let wide = try Viewer(at: gateway, kilobitsPerSecond: 5_000)
            let narrow = try Viewer(at: gateway, kilobitsPerSecond: 600, delay: .milliseconds(25), loss: 1)
            expect("both watch", within: .seconds(60)) { wide.samples.count > 0 && narrow.samples.count > 0 }
            letPass(.seconds(30))

            let (before, cutAt) = (wide.samples, try wide.narrow(to: 250))
            letPass(.seconds(15))
            let healedAt = try wide.narrow(to: 5_000)
            letPass(.seconds(25))
            wide.expectHeight(720, from: 0, within: 5)
            #expect(Self.changes(before) <= 2, "\(before)")
            wide.expectHeight(180, from: cutAt, within: 2)
            wide.expectHeight(720, from: healedAt, within: 15)
            narrow.expectSteady(from: 10)
            publisher.interrupt()
            #expect(publisher.lastLine.contains("\"endedByServer\":0"), "\(publisher.output)")
            gateway.stop()
        }

        /// With a keyframe a second: who is asked for none sends none, so that no fall can be quicker than they come.
        private static let layers = Clip.layers.map { layer in
            var layer = layer
            layer.keyInterval = 30
            return layer
        }

        /// From one layer to another; before the first picture there is none.
        private static func changes(_ samples: [Sample]) -> Int {
            let shown = samples.map(\.height).filter { $0 > 0 }
            return zip(shown, shown.dropFirst()).count { $0 != $1 }
        }

        struct Sample: Decodable {
            var at: Double
            var height: Int
            var frames: Int
            var gap: Double
            var sound: Double
        }

        /// Chromium behind a way that a home has.
        private final class Viewer {
            /// Samples are some quarter of a second apart.
            private static let sampling = 0.3
            private let path: DistantPath
            private let run: ProgramRun

            init(at gateway: Gateway, kilobitsPerSecond rate: Int, delay: Duration = .zero, loss: Double = 0) throws {
                path = try DistantPath(delay: delay, loss: loss)
                try path.lead(udpTo: gateway.mediaPort)
                try path.tell("rate \(rate) down")
                let quickstart = gateway.quickstart
                let whip = try #require(quickstart.whipURL)
                let resource = "/whep/\(try #require(quickstart.stageId))/\(try #require(quickstart.whipParticipantId))"
                run = try ProgramRun([
                    Interop.WHIP.python, Workspace.package.appending(path: "Tests/Interop/Clients/browser_whep.py").path,
                    whip.replacing(/\/whip$/, with: "/publish"), whip.replacing(/\/whip$/, with: resource),
                    try gateway.makeToken(), "120", "\(path.udp)",
                ])
            }

            var samples: [Sample] {
                run.output.split(separator: "\n").compactMap { try? JSONDecoder().decode(Sample.self, from: Data($0.utf8)) }
            }

            /// - Returns: when, on the clock of its samples.
            func narrow(to rate: Int) throws -> Double {
                try path.tell("rate \(rate) down")
                return samples.last?.at ?? 0
            }

            func expectHeight(_ height: Int, from start: Double, within limit: Double) {
                let first = samples.first { $0.at > start && $0.height == height }
                print("\(height) lines after \((first?.at ?? .infinity) - start) s, \(path.udp)")
                #expect((first?.at ?? .infinity) - start <= limit + Self.sampling, "\(run.output)")
            }

            /// A lower layer, without a picture that stands for half a second, and without more than one change in ten seconds.
            func expectSteady(from start: Double) {
                let judged = samples.filter { $0.at > start }
                #expect(
                    judged.count > 100 && judged.allSatisfy { (1...360).contains($0.height) && $0.gap <= 500 }, "\(run.output)")
                print("longest gap \(judged.map(\.gap).max() ?? 0) ms, \(ViewerLayers.changes(judged)) changes")
                #expect(Double(ViewerLayers.changes(judged)) <= (judged.last?.at ?? 0) / 10, "\(run.output)")
            }
        }
    }
}
