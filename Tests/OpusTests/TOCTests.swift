import Opus
import Testing
import Wire

@Suite("TOC")
struct TOCTests {
    /// Packet, mode, bandwidth, stereo, samples at 48 kHz.
    @Test(
        arguments: [
            ([0xFC], TOC.Mode.celt, TOC.Bandwidth.full, true, 960),
            ([0xF8], .celt, .full, false, 960),
            ([0xE0], .celt, .full, false, 120),
            ([0x78], .hybrid, .full, false, 960),
            ([0x08], .silk, .narrow, false, 960),
            ([0x18], .silk, .narrow, false, 2_880),
            ([0xFD], .celt, .full, true, 1_920),
            ([0xFB, 6], .celt, .full, false, 5_760),
        ] as [([UInt8], TOC.Mode, TOC.Bandwidth, Bool, Int)])
    func `reads`(_ packet: [UInt8], _ mode: TOC.Mode, _ bandwidth: TOC.Bandwidth, _ isStereo: Bool, _ samples: Int) throws {
        let toc = TOC(packet[0])
        #expect((toc.mode, toc.bandwidth, toc.isStereo) == (mode, bandwidth, isStereo))
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
