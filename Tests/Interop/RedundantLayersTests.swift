import Testing

extension Interop {
    /// Two encoders with layers that are one participant.
    @Suite struct RedundantLayers {
        @Test(.timeLimit(.minutes(10)))
        func `all layers go on with the other encoder, which comes by RTMPS`() throws {
            let router = try StageRouter()
            let stage = try RedundantPair([], to: router)
            try Self.begin(1, of: stage)
            try Self.begin(2, of: stage)
            stage.awaitBoth()
            for fault in [RedundantPair.Fault.order, .kill, .order] {
                try Self.expectPictures(of: 3, stage, at: router)
                let victim = try stage.change(by: fault)
                if fault == .kill { try Self.begin(victim, of: stage) }
            }
            try Self.expectPictures(of: 3, stage, at: router)
            try Self.expectWhole(stage, at: router)
            stage.gateway.stop()
        }

        @Test(.timeLimit(.minutes(10)))
        func `beside an encoder of one layer the others rest, and are there again`() throws {
            let router = try StageRouter()
            let stage = try RedundantPair([], to: router)
            try Self.begin(1, of: stage)
            try expect("the one with layers is the source", within: .seconds(60)) { try stage.source == 1 }
            stage.encoders[2] = try Encoder.ffmpeg(Clip.layers[0], to: stage.url(2), seconds: Encoder.untilStopped)
            stage.awaitBoth()
            for (encoder, count) in [(1, 3), (2, 1), (1, 3)] {
                try Self.expectPictures(of: count, stage, from: encoder, at: router)
            }
            try Self.expectWhole(stage, at: router)
            stage.gateway.stop()
        }

        /// - Parameter number: 1 by RTMP, 2 by RTMPS.
        private static func begin(_ number: Int, of stage: RedundantPair) throws {
            let url = number == 1 ? stage.url(1) : stage.url(2).replacing("rtmp:", with: "rtmps:")
            stage.encoders[number]?.kill()
            stage.encoders[number] = try Encoder.multitrack(to: url, seconds: Encoder.untilStopped)
        }

        /// From now on so many layers bring pictures, for a while, and the others rest.
        ///
        /// A router that is told of them anew begins to count anew.
        /// - Parameter encoder: who is ordered to bring them, and again where that one stood still, as on a busy machine; nil:
        ///   whoever is the source.
        private static func expectPictures(
            of count: Int, _ stage: RedundantPair, from encoder: Int? = nil, at router: StageRouter
        ) throws {
            var (before, now, active) = ([Int](), [Int](), 0)
            func look() throws {
                let seen = try router.participants()[stage.joined]
                now = (seen?.tracks ?? []).filter { $0.kind == "video" }.map(\.packets)
                before = now.indices.map { min(before.indices.contains($0) ? before[$0] : now[$0], now[$0]) }
                active = (seen?.layers ?? []).count(where: \.active)
            }
            for _ in 0..<2 {
                before = []
                try look()
                let state = { "\(before), then \(now), \(active) active; \(String(describing: try? stage.status))" }
                try expect("pictures of \(count) layers: \(state())\n\(stage.logTail)", within: .seconds(120)) {
                    if let encoder, try stage.source != encoder { try stage.order(encoder) }
                    try look()
                    return active == count && zip(before, now).count { $1 > $0 + 30 } >= count
                }
            }
        }

        /// Numbers and times of all tracks are one stream's.
        private static func expectWhole(_ stage: RedundantPair, at router: StageRouter) throws {
            let seen = try router.only(stage.joined)
            #expect(seen.tracks.count == 4 && seen.tracks.allSatisfy(\.isWhole), "\(seen)")
            #expect(seen.foreign == 0 && seen.backwards == 0 && !seen.saidBye, "\(seen)")
        }
    }
}
