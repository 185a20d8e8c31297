import AAC
import TestSupport
import Testing

@Suite("AudioSpecificConfig")
struct AudioSpecificConfigTests {
    struct Sample: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var bytes: [UInt8]
        var rate: Int
        var channels: Int?
        var isLowComplexity: Bool
    }

    static let samples: [Sample] = [
        Sample(testDescription: "LC 48 kHz stereo", bytes: [0x11, 0x90], rate: 48_000, channels: 2, isLowComplexity: true),
        Sample(testDescription: "LC 44.1 kHz mono", bytes: [0x12, 0x08], rate: 44_100, channels: 1, isLowComplexity: true),
        Sample(
            testDescription: "LC 48 kHz stereo, sync extension with sbr=0 (OBS, ffmpeg)", bytes: [0x11, 0x90, 0x56, 0xE5, 0x00],
            rate: 48_000, channels: 2, isLowComplexity: true),
        Sample(
            testDescription: "implicit SBR: sync extension with sbr=1", bytes: [0x13, 0x10, 0x56, 0xE5, 0x98], rate: 24_000,
            channels: 2, isLowComplexity: false),
        Sample(
            testDescription: "explicit SBR", bytes: [0x2B, 0x11, 0x88, 0x00], rate: 24_000, channels: 2, isLowComplexity: false),
        Sample(
            testDescription: "explicit PS", bytes: [0xEB, 0x09, 0x88, 0x00], rate: 24_000, channels: 1, isLowComplexity: false),
        Sample(testDescription: "LC 96 kHz stereo", bytes: [0x10, 0x10], rate: 96_000, channels: 2, isLowComplexity: true),
        Sample(testDescription: "LC 48 kHz 5.1", bytes: [0x11, 0xB0], rate: 48_000, channels: 6, isLowComplexity: true),
        Sample(testDescription: "LC 48 kHz 22.2", bytes: [0x11, 0xE8], rate: 48_000, channels: 24, isLowComplexity: true),
        Sample(testDescription: "Main profile", bytes: [0x09, 0x90], rate: 48_000, channels: 2, isLowComplexity: false),
        Sample(
            testDescription: "explicit frequency", bytes: [0x17, 0x80, 0x5D, 0xC0, 0x10], rate: 48_000, channels: 2,
            isLowComplexity: true),
        Sample(
            testDescription: "USAC by the escape", bytes: [0xF9, 0x46, 0x40], rate: 48_000, channels: 2, isLowComplexity: false),
        Sample(
            testDescription: "program config element of 5.1(side) (ffmpeg)", bytes: fiveOneSide, rate: 48_000, channels: 6,
            isLowComplexity: true),
        Sample(
            testDescription: "program config element of a pair (ffmpeg)",
            bytes: [0x11, 0x80, 0x04, 0xC4, 0x00, 0x00, 0x20, 0x04, 0x4C, 0x61, 0x76, 0x63, 0x56, 0xE5, 0x00], rate: 48_000,
            channels: 2, isLowComplexity: true),
        Sample(
            testDescription: "program config element with mixdowns, implicit SBR behind it",
            bytes: [0x11, 0x80, 0x04, 0xC4, 0x00, 0x01, 0x08, 0x44, 0x00, 0x00, 0x56, 0xE5, 0x98], rate: 48_000, channels: 2,
            isLowComplexity: false),
        Sample(
            testDescription: "program config element without channels",
            bytes: [0x11, 0x80, 0x04, 0xC0, 0x00, 0x00, 0x00, 0x00, 0x56, 0xE5, 0x00], rate: 48_000, channels: nil,
            isLowComplexity: true),
    ]

    /// A channel and a pair in front, a pair at the sides, one of low frequencies; the comment is `Lavc`.
    static let fiveOneSide: [UInt8] = [
        0x11, 0x80, 0x04, 0xC8, 0x41, 0x00, 0x01, 0x08, 0x00, 0x04, 0x4C, 0x61, 0x76, 0x63, 0x56, 0xE5, 0x00,
    ]

    @Test(arguments: samples)
    func `reads`(_ sample: Sample) throws {
        let config = try AudioSpecificConfig(parsing: sample.bytes.span.bytes)
        #expect((config.sampleRate, config.channelCount) == (sample.rate, sample.channels))
        #expect(config.isLowComplexity == sample.isLowComplexity)
        #expect(config.bytes == sample.bytes)
    }

    @Test(arguments: samples)
    func `decoders are told a frequency by its number`(_ sample: Sample) throws {
        let config = try AudioSpecificConfig(parsing: sample.bytes.span.bytes)
        let told: [UInt8] = sample.testDescription == "explicit frequency" ? [0x11, 0x90] : sample.bytes
        #expect(config.bytesForDecoders == told)
    }

    @Test
    func `a frequency without a number stays told in full`() throws {
        // 44,056 Hz.
        let bytes: [UInt8] = [0x17, 0x80, 0x56, 0x0C, 0x10]
        let config = try AudioSpecificConfig(parsing: bytes.span.bytes)
        #expect((config.sampleRate, config.isLowComplexity) == (44_056, true))
        #expect(config.bytesForDecoders == bytes)
    }

    @Test(arguments: 2..<9)
    func `a program config element that is cut short names no channels`(_ byteCount: Int) throws {
        let bytes = Array(Self.fiveOneSide.prefix(byteCount))
        #expect(try AudioSpecificConfig(parsing: bytes.span.bytes).channelCount == nil)
    }

    @Test
    func `tells both HE-AAC versions`() throws {
        #expect(try AudioSpecificConfig(parsing: ([0x2B, 0x11, 0x88, 0x00] as [UInt8]).span.bytes).hasSpectralBandReplication)
        #expect(try AudioSpecificConfig(parsing: ([0xEB, 0x09, 0x88, 0x00] as [UInt8]).span.bytes).hasParametricStereo)
    }

    @Test(arguments: [44_100, 48_000], [1, 2])
    func `the shortest form comes back`(_ rate: Int, _ channels: Int) throws {
        let config = try #require(AudioSpecificConfig(lowComplexityAt: rate, channelCount: channels))
        #expect(try AudioSpecificConfig(parsing: config.bytes.span.bytes) == config)
    }

    @Test
    func `refuses short, long and reserved`() {
        for bytes in [[], [0x11]] as [[UInt8]] {
            #expect(throws: AACError.truncated) { try AudioSpecificConfig(parsing: bytes.span.bytes) }
        }
        #expect(throws: AACError.reservedFrequency) { try AudioSpecificConfig(parsing: ([0x16, 0x90] as [UInt8]).span.bytes) }
        let long = [UInt8](repeating: 0, count: AudioSpecificConfig.maximumByteCount + 1)
        #expect(throws: AACError.tooLong) { try AudioSpecificConfig(parsing: long.span.bytes) }
    }
}
