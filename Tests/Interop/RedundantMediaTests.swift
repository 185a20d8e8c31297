import Foundation
import Testing

extension Interop {
    /// What a receiver makes of two encoders' media after switches: it decodes, and looks and listens.
    @Suite struct RedundantMedia {
        @Test(.timeLimit(.minutes(20)))
        func `picture and sound stay together through switches, and the tone has no click`() throws {
            let file = try Self.received(through: RedundantPair.Fault.possible)
            let media = try CountedMedia(file)
            try Self.expectTogether(media, file)
            // Without a common clock media is placed by how it came, which leaves gaps where a busy machine was late.
            print("gaps \(media.soundGaps())")
        }

        private enum CommonClock: CaseIterable {
            case timestamps, composition, timecode

            /// What both encoders bring.
            var file: String {
                get throws {
                    switch self {
                    case .timestamps: try Clip.counted.file()
                    case .composition: try Clip.composed()
                    case .timecode: try Clip.timecoded()
                    }
                }
            }

            /// As `GET …/source` names it.
            var name: String? {
                switch self {
                case .timestamps: nil
                case .composition: "composed"
                case .timecode: "timecode"
                }
            }
        }

        /// One program that brings the same to both, so that they are one clock however busy the machine is.
        @Test(.timeLimit(.minutes(10)), arguments: CommonClock.allCases)
        private func `on one clock no picture is shown twice and none is missing, nor any sound`(clock: CommonClock) throws {
            let stage = try RedundantPair([])
            // Only the clocks that pictures tell of agree where timestamps are five seconds apart.
            let offset = clock == .timestamps ? [] : ["-output_ts_offset", "5"]
            let outputs = ["-c", "copy", "-f", "flv", stage.url(1), "-c", "copy"] + offset + ["-f", "flv", stage.url(2)]
            stage.encoders[1] = try ProgramRun(
                ["ffmpeg", "-hide_banner", "-nostdin", "-nostats", "-v", "warning", "-re", "-i", try clock.file] + outputs)
            let capture = try stage.capture()
            for _ in 0..<3 {
                try stage.change(by: .order)
                let begin = capture.byteCount
                expect("it goes on\n\(stage.logTail)", within: .seconds(60)) { capture.byteCount > begin + 60_000 }
            }
            let told = try stage.status?.encoders.map(\.clock)
            #expect(told == [clock.name, clock.name])
            stage.encoders[1]?.interrupt()
            capture.finish()
            stage.gateway.stop()
            try Self.expectOneStream(CountedMedia(capture.file.path), stage.switches)
        }

        /// Pictures go on where they were, and sound does. On a machine that is busy with others an encoder may bring nothing for
        /// longer than what is kept of the other one reaches back: then it goes on with that one's next
        /// group, and the gateway says so.
        private static func expectOneStream(_ media: CountedMedia, _ switches: [RedundantPair.Switch]) {
            let isCalm = switches.allSatisfy { $0.reason == "operator" && $0.gap < 300 }
            let (shown, gaps) = (media.shown, media.soundGaps())
            let jumps = zip(shown, shown.dropFirst()).filter { $0 + 1 != $1 }
            print("\(switches.count) switches, pictures jumped \(jumps), sound had gaps \(gaps)")
            #expect(shown.count > 100 && jumps.allSatisfy { $0 < $1 && $1 % Clip.counted.keyInterval == 0 }, "\(jumps)")
            #expect(gaps.allSatisfy { $0 > 0.02 }, "nothing is heard twice: \(gaps)")
            #expect(max(jumps.count, gaps.count) <= (isCalm ? 0 : switches.count), "\(switches): \(jumps), \(gaps)")
        }

        @Test(.timeLimit(.minutes(10)))
        func `timecodes of the clip are timecodes to another program`() throws {
            let codes = try MediaFile.timecodes(try Clip.timecoded(), seconds: 3)
            // Encoded sound begins 21 ms before the first picture.
            #expect(codes.starts(with: ["12:00:00:16", "12:00:01:16", "12:00:02:16"]), "\(codes)")
        }

        /// A/V skew, and steps of the tone that no cut within a packet could keep to.
        private static func expectTogether(_ media: CountedMedia, _ file: String) throws {
            let skews = try media.skews(file)
            let milliseconds = skews.map { Int($0.least * 1_000) }
            print("skews in ms: \(milliseconds), widest step \(media.widestStep) of \(CountedMedia.widestOfCut)")
            #expect(skews.count > 20 && skews.allSatisfy { abs($0.least) < 0.04 }, "\(milliseconds)")
            let together = skews.count { abs($0.shown) < 0.04 }
            #expect(together > skews.count / 2, "\(together) of \(skews.count) with the pictures of their encoder")
            let steps = CountedMedia.widestOfTone * 0.9...CountedMedia.widestOfCut
            #expect(steps.contains(Double(media.widestStep)), "\(media.widestStep)")
        }

        /// Loses the source by each fault, some flashes apart.
        /// - Returns: the file of what a receiver got.
        static func received(through faults: [RedundantPair.Fault]) throws -> String {
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
