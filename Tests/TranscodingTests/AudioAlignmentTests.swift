import TestSupport
import Testing

@testable import Transcoding

@Suite("AudioAlignment")
struct AudioAlignmentTests {
    static let frame = 1_024

    /// Feeds frames whose stamps `stamp` gives in milliseconds, as RTMP rounds them; returns what was done.
    private func run(
        _ alignment: inout AudioAlignment, frames: Range<Int>, stamp: (Int) -> Double
    ) -> (corrected: Int, largestStep: Int, worstError: Int64, gaps: [Int64], drops: Int) {
        var result = (corrected: 0, largestStep: 0, worstError: Int64(0), gaps: [Int64](), drops: 0)
        for index in frames {
            let ticks = Int64(stamp(index).rounded(.down)) * 48
            if let position = alignment.position { result.worstError = max(result.worstError, abs(ticks - position)) }
            switch alignment.frameDecoded(stamp: ticks, samples: Self.frame) {
            case .encode(let correction):
                result.corrected += correction
                result.largestStep = max(result.largestStep, abs(correction))
            case .gap(let ticks): result.gaps.append(ticks)
            case .drop: result.drops += 1
            case .restart: result.gaps.append(.min)
            }
        }
        return result
    }

    @Test(arguments: [44_100, 48_000, 32_000])
    func `an exact clock with stamps in whole milliseconds is left alone`(_ rate: Int) {
        var alignment = AudioAlignment(sampleRate: rate)
        let result = run(&alignment, frames: 0..<100_000) { Double($0 * Self.frame) * 1_000 / Double(rate) }
        #expect(result.corrected == 0)
        #expect(result.gaps.isEmpty)
        #expect(result.worstError <= 48)
    }

    @Test(arguments: [200e-6, -200e-6], [44_100, 48_000])
    func `a clock 200 ppm off for an hour never errs by 20 ms and needs no gap`(_ drift: Double, _ rate: Int) {
        var alignment = AudioAlignment(sampleRate: rate)
        let frames = 3_600 * rate / Self.frame
        let result = run(&alignment, frames: 0..<frames) { Double($0 * Self.frame) * 1_000 / Double(rate) * (1 + drift) }
        #expect(abs(Double(result.corrected) - 3_600 * 48_000 * drift) < 960)
        #expect(result.worstError < 960)
        #expect(result.largestStep <= 3)
        #expect(result.gaps.isEmpty && result.drops == 0)
    }

    @Test
    func `stamps that jitter by 30 ms around the truth are left alone`() {
        var alignment = AudioAlignment(sampleRate: 48_000)
        let result = run(&alignment, frames: 0..<10_000) { index in
            Double(index * Self.frame) / 48 + (index % 2 == 0 ? 15 : -15) + (index == 0 ? -15 : 0)
        }
        #expect(result.corrected == 0)
        #expect(result.gaps.isEmpty && result.drops == 0)
    }

    @Test
    func `a lasting step of 50 ms is worked off at 0.2 %`() {
        var alignment = AudioAlignment(sampleRate: 48_000)
        _ = run(&alignment, frames: 0..<100) { Double($0 * Self.frame) / 48 }
        let result = run(&alignment, frames: 100..<2_000) { Double($0 * Self.frame) / 48 + 50 }
        #expect(abs(result.corrected - 2_400) <= Int(AudioAlignment.tolerance))
        #expect(result.largestStep <= 3)
        #expect(result.gaps.isEmpty)
    }

    @Test
    func `five seconds without audio are a gap, once`() {
        var alignment = AudioAlignment(sampleRate: 48_000)
        _ = run(&alignment, frames: 0..<100) { Double($0 * Self.frame) / 48 }
        let result = run(&alignment, frames: 100..<300) { Double($0 * Self.frame) / 48 + 5_000 }
        #expect(result.gaps.count == 1)
        #expect(abs((result.gaps.first ?? 0) - 240_000) <= 48)
        #expect(result.corrected == 0)
    }

    @Test
    func `stamps 300 ms back drop what was already heard`() {
        var alignment = AudioAlignment(sampleRate: 48_000)
        _ = run(&alignment, frames: 0..<100) { Double($0 * Self.frame) / 48 }
        let result = run(&alignment, frames: 100..<300) { Double($0 * Self.frame) / 48 - 300 }
        #expect((13...15).contains(result.drops))
        #expect(result.gaps.isEmpty)
    }

    @Test
    func `stamps an hour back begin anew`() {
        var alignment = AudioAlignment(sampleRate: 48_000)
        _ = run(&alignment, frames: 200_000..<200_100) { Double($0 * Self.frame) / 48 }
        let result = run(&alignment, frames: 0..<100) { Double($0 * Self.frame) / 48 }
        #expect(result.gaps == [.min])
        #expect(result.drops == 0)
    }
}

@Suite("SampleStretching")
struct SampleStretchingTests {
    @Test(arguments: [-2, -1, 1, 2], [1, 2])
    func `keeps a tone a tone and both ends in place`(_ correction: Int, _ channels: Int) {
        let tone: (Double) -> Float = { Float(sine(2 * Double.pi * 1_000 * $0 / 48_000)) }
        let block = (0..<1_024).flatMap { index in (0..<channels).map { _ in tone(Double(index)) } }
        var output: [Float] = []
        block.withUnsafeBufferPointer {
            SampleStretching.append($0, channelCount: channels, correction: correction, to: &output)
        }
        #expect(output.count == (1_024 + correction) * channels)
        #expect(output.first == block.first)
        for index in 0..<(1_024 + correction) {
            let expected = tone(Double(index) * 1_024 / Double(1_024 + correction))
            #expect(abs(output[index * channels] - expected) < 0.005)
        }
    }

    @Test
    func `without correction nothing changes`() {
        let block: [Float] = (0..<100).map { Float($0) }
        var output: [Float] = []
        block.withUnsafeBufferPointer { SampleStretching.append($0, channelCount: 1, correction: 0, to: &output) }
        #expect(output == block)
    }
}
