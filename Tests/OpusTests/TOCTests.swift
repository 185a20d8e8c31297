import Opus
import Testing
import Wire

@Suite("TOC")
struct TOCTests {
    /// Packet, stereo, samples at 48 kHz.
    @Test(
        arguments: [
            ([0xFC], true, 960), ([0xF8], false, 960), ([0xE0], false, 120), ([0x78], false, 960), ([0x08], false, 960),
            ([0x18], false, 2_880), ([0xFD], true, 1_920), ([0xFB, 6], false, 5_760),
        ] as [([UInt8], Bool, Int)])
    func `reads`(_ packet: [UInt8], _ isStereo: Bool, _ samples: Int) throws {
        #expect(TOC(packet[0]).isStereo == isStereo)
        #expect(try packet.withUnsafeBytes { bytes in try TOC.sampleCount(of: bytes) } == samples)
    }

    @Test(arguments: [
        ([], OpusError.truncated), ([0xFB], .truncated), ([0xFB, 0], .invalidFrameCount), ([0xFB, 7], .invalidFrameCount),
    ])
    func `refuses`(_ packet: [UInt8], _ error: OpusError) {
        #expect(throws: error) {
            try packet.withUnsafeBytes { bytes in try TOC.sampleCount(of: bytes) }
        }
    }
}
