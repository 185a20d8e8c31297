import Foundation
import Testing

extension Interop {
    /// A viewer chooses between the layers of one publisher, by the extension of WHEP's draft.
    @Suite struct LayerChoice {
        @Test(.timeLimit(.minutes(10)))
        func `every picture is decoded, whichever layer is asked for next`() throws { try Self.choose(12) }

        /// - Parameter count: of layers that are asked for one after the other, two a second at most.
        static func choose(_ count: Int) throws {
            let gateway = try Gateway()
            let publisher = try Encoder.simulcast(layers, to: gateway, seconds: Encoder.untilStopped)
            defer { publisher.kill() }
            expect("three layers are known\n\(publisher.output)", within: .seconds(60)) {
                (try? gateway.liveLayers().count) == 3
            }
            let quickstart = gateway.quickstart
            let whep = "/whep/\(try #require(quickstart.stageId))/\(try #require(quickstart.whipParticipantId))"
            let output = try ProgramRun.output(
                of: [
                    WHIP.python, Workspace.package.appending(path: "Tests/Interop/Clients/whep_layers.py").path, "\(count)",
                    try gateway.makeToken(), try #require(quickstart.whipURL).replacing(/\/whip$/, with: whep),
                ], within: .seconds(400 + 5 * count))
            let seen = try JSONDecoder().decode(Seen.self, from: Data(output.utf8))
            print("\(seen.switches) switches of layers, \(seen.pictures) pictures")
            #expect(seen.switches == count && seen.pictures > count && seen.backward == 0, "\(output)")
            let metrics = try gateway.metrics()
            let losses = ["rx_lost_packets", "udp_rcvbuf_errors", "whep_lagging"]
            let lost = losses.filter { metrics.sum("stagedoor_\($0)_total") > 0 }
            // What a full socket dropped before its reader came to it is missing, or sent again, whatever layer it was of.
            let isWhole = seen.repeats == 0 && seen.dropped == 0 && lost.isEmpty
            #expect(!isWhole || seen.gaps == 0 && seen.faults.isEmpty, "\(output)")
            if !isWhole { print("not judged for gaps: \(output), \(lost)") }
            gateway.stop()
        }

        /// Who is asked for a keyframe sends none: they come twice a second.
        private static let layers = Clip.layers.map { layer in
            var layer = layer
            layer.keyInterval = 15
            return layer
        }

        private struct Seen: Decodable {
            var switches: Int
            var pictures: Int
            var faults: [String]
            var gaps: Int
            var backward: Int
            var repeats: Int
            var dropped: Int
        }
    }
}

extension UnderLoad {
    @Suite struct LayerSwitches {
        @Test(.timeLimit(.minutes(60)))
        func `a thousand choices of layers leave every picture whole`() throws { try Interop.LayerChoice.choose(1_000) }
    }
}
