import Testing

@testable import H264

@Suite("Broadcast Performance Metrics")
struct BroadcastPerformanceTests {
    private static let session: [UInt8] = [
        0xCA, 0x60, 0xE7, 0x1C, 0x6A, 0x8B, 0x43, 0x88, 0xA3, 0x77, 0x15, 0x1D, 0xF7, 0xBF, 0x8A, 0xC2,
    ]
    private static let rendition: [UInt8] = [
        0xF1, 0xFB, 0xC1, 0xD5, 0x10, 0x1E, 0x4F, 0xB5, 0xA6, 0x1E, 0xB8, 0xCE, 0x3C, 0x07, 0xB8, 0xC0,
    ]

    /// One message as OBS writes it: a time as text, then counters, emulation prevention put in.
    private static func unit(
        _ identifier: [UInt8], _ counters: [(UInt8, UInt32)], time: [UInt8] = Array("2024-05-31T12:26:03.591Z".utf8) + [0]
    )
        -> [UInt8]
    {
        var payload = identifier + [0, 1, 4] + time + [UInt8(counters.count - 1)]
        for (tag, value) in counters { payload += [tag] + (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) } }
        return [6] + escaped([5, UInt8(payload.count)] + payload + [0x80])
    }

    private static func escaped(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        for byte in bytes {
            if result.suffix(2) == [0, 0], byte <= 3 { result.append(3) }
            result.append(byte)
        }
        return result
    }

    private static func read(_ unit: [UInt8]) -> BroadcastPerformance? { BroadcastPerformance(inSEI: unit.span.bytes) }

    @Test
    func `the program's counters`() {
        var frames = BroadcastPerformance.SessionFrames()
        (frames.rendered, frames.lagged, frames.dropped, frames.output) = (120, 3, 70_000, 257)
        #expect(Self.read(Self.unit(Self.session, [(1, 120), (2, 3), (3, 70_000), (4, 257)])) == .session(frames))
    }

    @Test
    func `one encoder's counters`() {
        var frames = BroadcastPerformance.RenditionFrames()
        (frames.input, frames.skipped, frames.output) = (UInt32.max, 0, 1)
        #expect(Self.read(Self.unit(Self.rendition, [(1, .max), (2, 0), (3, 1)])) == .rendition(frames))
    }

    @Test
    func `counters of a later version are stepped over`() {
        var frames = BroadcastPerformance.RenditionFrames()
        frames.output = 7
        #expect(Self.read(Self.unit(Self.rendition, [(9, 5), (3, 7), (200, 1)])) == .rendition(frames))
    }

    @Test
    func `every cut of a message is none, and no byte changed ends the process`() {
        let whole = Self.unit(Self.session, [(1, 120), (2, 3), (3, 0), (4, 120)])
        for length in 0..<(whole.count - 1) { #expect(Self.read(Array(whole.prefix(length))) == nil) }
        for index in whole.indices {
            for byte in [0, 3, 0x80, 0xFF] as [UInt8] {
                var changed = whole
                changed[index] = byte
                _ = Self.read(changed)
            }
        }
    }

    @Test
    func `other messages are none`() {
        #expect(Self.read([6, 5, 16] + [UInt8](repeating: 7, count: 16) + [0x80]) == nil)
        #expect(Self.read([6, 1, 1, 0, 0x80]) == nil)
        #expect(Self.read([6]) == nil)
        // A time that never ends, and a time of no known type.
        #expect(Self.read(Self.unit(Self.session, [(1, 1)], time: [UInt8](repeating: 0x41, count: 200))) == nil)
    }
}
