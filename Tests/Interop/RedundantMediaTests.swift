import Foundation
import Testing

extension Interop {
    /// What a receiver makes of two encoders' media after switches: it decodes, and looks and listens.
    @Suite struct RedundantMedia {
        @Test(.timeLimit(.minutes(40)))
        func `picture and sound stay together through switches, and the tone has no click`() throws {
            var file = try received(through: RedundantPair.Fault.possible)
            var media = try CountedMedia(file)
            // What has no common clock is placed by how it came. On a busy machine that is late by turns, and leaves a gap: then again.
            for _ in 0..<2 where !media.soundGaps.isEmpty {
                print("gaps \(media.soundGaps)")
                file = try received(through: RedundantPair.Fault.possible)
                media = try CountedMedia(file)
            }
            let skews = try media.skews(file)
            print("skews in ms: \(skews.map { Int($0 * 1_000) }), widest step \(media.widestStep), gaps \(media.soundGaps)")
            #expect(skews.count > 20 && skews.allSatisfy { abs($0) < 0.04 }, "\(skews)")
            #expect(media.widestStep > 400 && media.widestStep < 3_000, "\(media.widestStep)")
            #expect(media.soundGaps.isEmpty, "\(media.soundGaps)")
        }

        private enum CommonClock: CaseIterable { case timestamps, composition }

        /// One program that brings the same to both, so that they are one clock however busy the machine is.
        @Test(.timeLimit(.minutes(10)), arguments: CommonClock.allCases)
        private func `on one clock no picture is shown twice, and none is missing`(clock: CommonClock) throws {
            let stage = try RedundantPair([])
            let file = try clock == .timestamps ? Clip.counted.file() : Clip.composed()
            // Only the times of composition agree where timestamps are five seconds apart.
            let offset = clock == .timestamps ? [] : ["-output_ts_offset", "5"]
            let outputs = ["-c", "copy", "-f", "flv", stage.url(1), "-c", "copy"] + offset + ["-f", "flv", stage.url(2)]
            stage.encoders[1] = try ProgramRun(
                ["ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-v", "warning", "-re", "-i", file] + outputs)
            let capture = try stage.capture()
            for _ in 0..<3 {
                try stage.change(by: .order)
                let begin = capture.byteCount
                expect("it goes on\n\(stage.logTail)", within: .seconds(60)) { capture.byteCount > begin + 30_000 }
            }
            let told = try stage.status?.encoders.map(\.clock)
            #expect(told == (clock == .timestamps ? [nil, nil] : ["composed", "composed"]))
            stage.encoders[1]?.interrupt()
            capture.finish()
            stage.gateway.stop()
            let shown = try CountedMedia(capture.file.path).shown
            #expect(shown.count > 100 && zip(shown, shown.dropFirst()).allSatisfy { $0 + 1 == $1 }, "\(shown)")
        }

        /// Loses the source by each fault, some flashes apart.
        /// - Returns: the file of what a receiver got.
        private func received(through faults: [RedundantPair.Fault]) throws -> String {
            let stage = try RedundantPair([.counted, .counted])
            let capture = try stage.capture()
            for fault in faults {
                let victim = try stage.change(by: fault)
                try stage.restore(victim, after: fault)
                let begin = capture.byteCount
                expect("some flashes come\n\(stage.logTail)", within: .seconds(60)) { capture.byteCount > begin + 60_000 }
            }
            for encoder in stage.encoders.values { encoder.interrupt() }
            capture.finish()
            stage.gateway.stop()
            return capture.file.path
        }
    }
}
