import TestSupport
import Testing

@testable import H264

@Suite("Broadcast Performance Metrics")
struct BroadcastPerformanceTests {
    private static func unit(
        _ identifier: [UInt8], _ counters: [(UInt8, UInt32)], change: (inout PerformanceBuilder) -> Void = { _ in }
    ) -> [UInt8] {
        var message = PerformanceBuilder(identifier, counters)
        change(&message)
        return message.bytes
    }

    private static func read(_ unit: [UInt8]) -> BroadcastPerformance? { BroadcastPerformance(inSEI: unit.span.bytes) }

    @Test
    func `the program's counters`() {
        var frames = BroadcastPerformance.SessionFrames()
        (frames.rendered, frames.lagged, frames.dropped, frames.output) = (120, 3, 70_000, 257)
        #expect(Self.read(Self.unit(PerformanceBuilder.session, [(1, 120), (2, 3), (3, 70_000), (4, 257)])) == .session(frames))
    }

    @Test
    func `one encoder's counters`() {
        var frames = BroadcastPerformance.RenditionFrames()
        (frames.input, frames.skipped, frames.output) = (UInt32.max, 0, 1)
        #expect(Self.read(Self.unit(PerformanceBuilder.rendition, [(1, .max), (2, 0), (3, 1)])) == .rendition(frames))
    }

    @Test
    func `counters of a later version are stepped over`() {
        var frames = BroadcastPerformance.RenditionFrames()
        frames.output = 7
        #expect(Self.read(Self.unit(PerformanceBuilder.rendition, [(9, 5), (3, 7), (200, 1)])) == .rendition(frames))
    }

    @Test
    func `every cut of a message is none, and no byte changed ends the process`() {
        let whole = Self.unit(PerformanceBuilder.session, [(1, 120), (2, 3), (3, 0), (4, 120)])
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
        #expect(
            Self.read(Self.unit(PerformanceBuilder.session, [(1, 1)]) { $0.time = [UInt8](repeating: 0x41, count: 200) }) == nil)
    }
}
