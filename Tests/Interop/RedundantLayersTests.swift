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
            try Self.expectPictures(of: 3, stage, at: router)
            try stage.change(by: .order)
            try Self.expectPictures(of: 1, stage, at: router)
            try stage.change(by: .order)
            try Self.expectPictures(of: 3, stage, at: router)
            try Self.expectWhole(stage, at: router)
            stage.gateway.stop()
        }

        /// - Parameter number: 1 by RTMP, 2 by RTMPS.
        private static func begin(_ number: Int, of stage: RedundantPair) throws {
            let url = number == 1 ? stage.url(1) : stage.url(2).replacing("rtmp:", with: "rtmps:")
            stage.encoders[number]?.kill()
            stage.encoders[number] = try Encoder.multitrack(to: url, seconds: Encoder.untilStopped)
        }

        /// From now on so many layers bring pictures, for a while.
        private static func expectPictures(of count: Int, _ stage: RedundantPair, at router: StageRouter) throws {
            func packets() throws -> [Int] {
                let tracks = try router.participants()[stage.joined]?.tracks ?? []
                return tracks.filter { $0.kind == "video" }.map(\.packets)
            }
            for _ in 0..<2 {
                let before = try packets()
                try expect("pictures of \(count) layers\n\(stage.logTail)", within: .seconds(60)) {
                    let now = try packets()
                    let growing = now.indices.count { now[$0] > (before.indices.contains($0) ? before[$0] : 0) + 30 }
                    return growing >= count
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
