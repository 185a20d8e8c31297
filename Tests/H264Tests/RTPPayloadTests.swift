import H264
import TestSupport
import Testing

@Suite("RTPPayload")
struct RTPPayloadTests {
    @Test
    func `tells single units, aggregations and fragments apart`() throws {
        let single: [UInt8] = [0x41, 1, 2]
        try single.withUnsafeBytes {
            guard case .single(let unit) = try RTPPayload(parsing: $0) else { return #expect(Bool(false)) }
            #expect(Array(unit) == single)
        }
        let aggregation: [UInt8] = [0x78, 0, 2, 0x67, 1, 0, 1, 0x68]
        try aggregation.withUnsafeBytes {
            guard case .aggregation(var units) = try RTPPayload(parsing: $0) else { return #expect(Bool(false)) }
            var found: [[UInt8]] = []
            while let unit = try units.next() { found.append(Array(unit)) }
            #expect(found == [[0x67, 1], [0x68]])
        }
        let fragment: [UInt8] = [0x7C, 0x85, 9, 8]
        try fragment.withUnsafeBytes {
            guard case .fragment(let fragment) = try RTPPayload(parsing: $0) else { return #expect(Bool(false)) }
            #expect((fragment.header.byte, fragment.isStart, fragment.isEnd) == (0x65, true, false))
            #expect(Array(fragment.body) == [9, 8])
        }
    }

    @Test(arguments: [[], [0x7C], [0x40], [0x79, 1], [0x7D, 1, 2], [0x5F]] as [[UInt8]])
    func `refuses empty payloads and the types of other modes`(_ payload: [UInt8]) {
        #expect(throws: H264Error.self) {
            try payload.withUnsafeBytes { bytes in try RTPPayload(parsing: bytes) }
        }
    }
}

@Suite("EncoderSettings")
struct EncoderSettingsTests {
    static let text = "x264 - core 164 r3095 - options: cabac=1 ref=3 bframes=2 b_pyramid=2 keyint=250 keyint_min=25"
    static let uuid: [UInt8] = [0xDC, 0x45, 0xE9, 0xBD, 0xE6, 0xD9, 0x48, 0xB7, 0x96, 0x2C, 0xD8, 0x20, 0xD9, 0x23, 0xEE, 0xEF]

    private func sei(_ text: String, before: [UInt8] = []) -> [UInt8] {
        let body = Self.uuid + Array(text.utf8) + [0]
        let size = Array(repeating: UInt8(0xFF), count: body.count / 255) + [UInt8(body.count % 255)]
        return [0x06] + before + [5] + size + body + [0x80]
    }

    @Test
    func `finds x264's text behind other messages`() {
        let long = Self.text + String(repeating: " x=1", count: 100)
        for unit in [sei(Self.text), sei(Self.text, before: [1, 2, 0, 0]), sei(long)] {
            let settings = EncoderSettings(inSEI: unit.span.bytes)
            #expect((settings?.keyframeInterval, settings?.bFrames) == (250, 2))
        }
        let endless = sei("x264 options: keyint=infinite")
        let settings = EncoderSettings(inSEI: endless.span.bytes)
        #expect(settings != nil && settings?.keyframeInterval == nil)
    }

    @Test
    func `other and cut messages have none`() {
        let other: [UInt8] = [0x06, 5, 3, 1, 2, 3, 0x80]
        let none = EncoderSettings(inSEI: other.span.bytes)
        #expect(none == nil)
        let unit = sei(Self.text)
        for length in 0..<unit.count - 1 {
            let prefix = Array(unit.prefix(length))
            let cut = EncoderSettings(inSEI: prefix.span.bytes)
            #expect(cut == nil)
        }
    }
}
