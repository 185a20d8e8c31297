import StageHub
import Testing
import Wire

@testable import WHIPIngest

@Suite("Simulcast layer selection")
struct LayerSelectorTests {
    static let sizes = [1_280 * 720, 640 * 360, 320 * 180]

    static func time(_ milliseconds: Int64) -> MonotonicTime {
        MonotonicTime(nanoseconds: 5_000_000_000 + milliseconds * 1_000_000)
    }

    private static func offer(
        _ selector: inout LayerSelector, _ layer: UInt8, number: Int64, timestamp: Int64, keyframe: Bool = false, at time: Int64
    ) -> MediaPacket? {
        var packet = MediaPacket(
            sequenceNumber: number, timestamp: timestamp, marker: true, payload: UnsafeRawBufferPointer(start: nil, count: 0))
        let isAdmitted = selector.admits(
            &packet, layer: layer, startsKeyframe: keyframe, pixelCount: sizes[Int(layer)], at: self.time(time))
        return isAdmitted ? packet : nil
    }

    @Test func `forwards the largest layer alive and changes only at its keyframe`() {
        var selector = LayerSelector(layerCount: 3)
        #expect(Self.offer(&selector, 2, number: 10, timestamp: 0, at: 0) == nil, "no keyframe yet")
        #expect(Self.offer(&selector, 2, number: 11, timestamp: 3_000, keyframe: true, at: 33)?.sequenceNumber == 11)
        #expect(Self.offer(&selector, 0, number: 500, timestamp: 90_000, at: 40) == nil)
        #expect(selector.wantsChange(at: Self.time(41)) && selector.target(at: Self.time(41)) == 0)
        #expect(Self.offer(&selector, 2, number: 12, timestamp: 6_000, at: 66)?.sequenceNumber == 12)
        let first = Self.offer(&selector, 0, number: 501, timestamp: 93_000, keyframe: true, at: 76)
        #expect(first?.sequenceNumber == 13, "numbers go on")
        #expect(first?.timestamp == 6_900, "time goes on by our clock: 10 ms")
        #expect(Self.offer(&selector, 2, number: 13, timestamp: 9_000, keyframe: true, at: 99) == nil)
        #expect(Self.offer(&selector, 0, number: 502, timestamp: 96_000, at: 109)?.timestamp == 9_900)
        #expect(!selector.wantsChange(at: Self.time(110)))
    }

    @Test func `falls back when the top layer is switched off`() {
        var selector = LayerSelector(layerCount: 3)
        #expect(Self.offer(&selector, 0, number: 1, timestamp: 0, keyframe: true, at: 0) != nil)
        #expect(Self.offer(&selector, 1, number: 1, timestamp: 0, keyframe: true, at: 400) == nil)
        #expect(selector.target(at: Self.time(600)) == 1)
        #expect(Self.offer(&selector, 1, number: 2, timestamp: 18_000, keyframe: true, at: 600)?.sequenceNumber == 2)
    }

    @Test func `a gap of the layer stays a gap`() {
        var selector = LayerSelector(layerCount: 2)
        _ = Self.offer(&selector, 0, number: 1, timestamp: 0, keyframe: true, at: 0)
        #expect(Self.offer(&selector, 0, number: 5, timestamp: 9_000, at: 100)?.sequenceNumber == 5)
    }

    @Test func `without simulcast nothing is touched`() {
        var selector = LayerSelector(layerCount: 1)
        #expect(Self.offer(&selector, 0, number: 7, timestamp: 1, at: 0)?.sequenceNumber == 7)
        #expect(selector.target(at: Self.time(0)) == 0)
    }
}
