import Foundation
import Testing

extension Interop {
    /// What an encoder pushes is what a stage router gets.
    @Suite struct RTMPDelivery {
        @Test(.timeLimit(.minutes(10)), arguments: [Clip.p30, .p60, .portrait, .slices])
        func `every video frame arrives as it was sent`(clip: Clip) throws {
            try expectDelivery(of: clip) { try Encoder.ffmpeg(clip, to: $0.publishURL) }
        }

        @Test(.timeLimit(.minutes(10)), arguments: [Clip.p30, .mono44])
        func `audio arrives as Opus without a gap`(clip: Clip) throws {
            let (file, saidGoodbye) = try deliver(clip, #_sourceLocation) { try Encoder.ffmpeg(clip, to: $0.publishURL) }
            let times = try MediaFile.steadyPacketTimes(file, stream: "a:0")
            let seconds = Double(times.count) * 0.02
            #expect(seconds > Double(clip.seconds) / 2 && seconds < Double(clip.seconds) + 0.3)
            #expect(!saidGoodbye || seconds > Double(clip.seconds) - 0.3)
            expectFrames(50, at: times)
        }

        @Test(.timeLimit(.minutes(10)), arguments: [(48_000, 2), (44_100, 1)])
        func `flash and beep stay within 40 ms`(sampleRate: Int, channels: Int) throws {
            let clip = Clip.flashAndBeep(sampleRate: sampleRate, channels: channels)
            let (file, saidGoodbye) = try deliver(clip, #_sourceLocation) { try Encoder.ffmpeg(clip, to: $0.publishURL) }
            let (flashes, beeps) = try MediaFile.flashesAndBeeps(file)
            #expect(flashes.count >= (saidGoodbye ? clip.seconds - 2 : clip.seconds / 2))
            // At the very end black and silence end as well, with the streams.
            for flash in flashes.dropLast() where flash < Double(clip.seconds) - 0.5 {
                let beep = try #require(beeps.min { abs($0 - flash) < abs($1 - flash) })
                #expect(abs(beep - flash) < 0.04)
            }
        }

        @Test(.timeLimit(.minutes(10)))
        func `GStreamer pushes`() throws {
            try expectDelivery(of: .p30) { try Encoder.gstreamer(.p30, to: $0.publishURL) }
        }

        @Test(.timeLimit(.minutes(10)))
        func `librtmp pushes`() throws {
            let file = try delivered(.p30) { try Encoder.librtmp(.p30, to: $0.publishURL) }
            let (sent, received) = (try MediaFile.frameDigests(Clip.p30.file()), try MediaFile.frameDigests(file))
            // Where the clip begins anew is a rounded frame's time behind its end.
            #expect((sent.count - 3...sent.count + 3).contains(received.count))
            #expect(Array(received.prefix(sent.count)) == Array(sent.prefix(received.count)))
        }

        /// 5 s before the 24-bit field overflows into the extended one, and before 32 bits wrap.
        @Test(.timeLimit(.minutes(10)), arguments: [0xFF_FFFF - 5_000, 0xFFFF_FFFF - 5_000], [true, false])
        func `timestamps stream through their limits`(first: Int, repeatsExtendedTimestamp: Bool) throws {
            let seconds = 10
            let dialect = repeatsExtendedTimestamp ? "--repeat-extended-timestamp" : "--no-repeat-extended-timestamp"
            let file = try delivered(.long) {
                try Encoder.librtmp(
                    .long, to: $0.publishURL, options: ["--first-timestamp", "\(first)", dialect], seconds: seconds)
            }
            let video = try MediaFile.steadyPacketTimes(file, stream: "v:0")
            #expect(video.count >= seconds * 30 - 10)
            expectFrames(30, at: video)
            let audio = try MediaFile.steadyPacketTimes(file, stream: "a:0")
            #expect(audio.count >= seconds * 50 - 50)
        }
    }
}

/// One frame after the other, a frame's time apart; sender reports move all a little, and more where they are late themselves.
func expectFrames(_ perSecond: Double, at times: [Double], sourceLocation: SourceLocation = #_sourceLocation) {
    let gaps = zip(times, times.dropFirst()).map { $1 - $0 }.filter { abs($0 * perSecond - 1) > 0.4 }
    #expect(gaps.isEmpty, sourceLocation: sourceLocation)
}

/// Publishes by `encoder` to a gateway of its own, and answers the file with what a router received.
func delivered(
    _ clip: Clip, sourceLocation: SourceLocation = #_sourceLocation, by encoder: (Quickstart) throws -> ProgramRun
) throws -> String {
    try deliver(clip, sourceLocation, by: encoder).file
}

/// Publishes by `encoder` to a gateway of its own: every picture of the clip reaches a router.
func expectDelivery(
    of clip: Clip, sourceLocation: SourceLocation = #_sourceLocation, by encoder: (Quickstart) throws -> ProgramRun
) throws {
    let (file, saidGoodbye) = try deliver(clip, sourceLocation, by: encoder)
    try MediaFile.expectFrames(of: clip.file(), in: file, saidGoodbye: saidGoodbye, at: sourceLocation)
}

private func deliver(
    _ clip: Clip, _ sourceLocation: SourceLocation, by encoder: (Quickstart) throws -> ProgramRun
) throws -> (file: String, saidGoodbye: Bool) {
    _ = try clip.file()
    let gateway = try Gateway()
    let capture = try Capture(gateway.sessionDescription)
    let run = try encoder(gateway.quickstart)
    #expect(run.status(within: .seconds(60)) == 0, "\(run.output)", sourceLocation: sourceLocation)
    capture.finish()
    gateway.stop(sourceLocation: sourceLocation)
    #expect(capture.byteCount > 0, "\(capture.output)\n\(gateway.log.suffix(4_000))", sourceLocation: sourceLocation)
    return (capture.file.path, gateway.heardGoodbyes)
}
