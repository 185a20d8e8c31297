import RTP
import TestSupport
import Testing
import Wire

@Suite("RTP header (RFC 3550 §5.1)")
struct RTPHeaderTests {
    static let minimal: [UInt8] = [
        0x80, 0xE0, 0x69, 0x8F,  // V=2, M=1, PT=96, sequence number 27023
        0xD9, 0xC2, 0x93, 0xDA,  // timestamp
        0x1C, 0x64, 0x27, 0x82,  // SSRC
    ]

    static let full: [UInt8] = [
        0xB2, 0x6F, 0x00, 0x01,  // V=2, P, X, two CSRCs, PT=111
        0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x03,  // timestamp, SSRC
        0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x05,  // CSRCs
        0xBE, 0xDE, 0x00, 0x02,  // one-byte extensions, two words
        0x10, 0x61, 0x00, 0x31, 0x12, 0x34, 0xF0, 0x00,  // id 1 "a", padding, id 3 two bytes, id 15 ends
        0xAA, 0xBB, 0x00, 0x03,  // payload of one byte, three of padding
    ]

    @Test func `reads and writes the fixed header`() throws {
        let header = try RTPHeader(parsing: Self.minimal.span.bytes)
        #expect(header.marker)
        #expect(header.payloadType == 96)
        #expect(header.sequenceNumber == 27023)
        #expect(header.timestamp == 0xD9C2_93DA)
        #expect(header.ssrc == 0x1C64_2782)
        #expect(header.byteCount == 12)
        var written = [UInt8](repeating: 0, count: 12)
        written.withUnsafeMutableBytes { header.writeFixed(into: $0.baseAddress!) }
        #expect(written == Self.minimal)
    }

    @Test func `finds CSRCs, extensions, payload and padding`() throws {
        let packet = Self.full
        let header = try RTPHeader(parsing: packet.span.bytes)
        #expect(header.payload(inPacketOf: packet.count) == 32..<33)
        let extensions = try #require(header.extensions)
        #expect(extensions.range(of: 1, in: packet.span.bytes) == 25..<26)
        #expect(extensions.range(of: 3, in: packet.span.bytes) == 28..<30)
        #expect(extensions.range(of: 15, in: packet.span.bytes) == nil)
        #expect(extensions.range(of: 2, in: packet.span.bytes) == nil)
    }

    @Test(arguments: 0..<full.count)
    func `a packet cut short throws`(at length: Int) {
        let prefix = Array(Self.full.prefix(length))
        #expect(throws: RTPError.self) { try RTPHeader(parsing: prefix.span.bytes) }
    }

    @Test(arguments: [0, 1, 3] as [UInt8])
    func `rejects any version but 2`(_ version: UInt8) {
        var packet = Self.minimal
        packet[0] = version << 6
        #expect(throws: RTPError.unsupportedVersion(version)) { try RTPHeader(parsing: packet.span.bytes) }
    }

    @Test(arguments: [0, 3, 255] as [UInt8])
    func `rejects padding that cannot be`(_ count: UInt8) {
        var packet = Self.minimal + [0xAA, count]
        packet[0] |= 0x20
        #expect(throws: RTPError.invalidPadding(count)) { try RTPHeader(parsing: packet.span.bytes) }
    }

    @Test func `reads two-byte extensions, empty ones included`() throws {
        let packet: [UInt8] =
            [0x90] + Self.minimal.dropFirst() + [
                0x10, 0x00, 0x00, 0x02,  // two-byte extensions, two words
                0x05, 0x00, 0x00, 0x20, 0x03, 0x01, 0x02, 0x03,  // id 5 empty, padding, id 32 three bytes
            ]
        let extensions = try #require(try RTPHeader(parsing: packet.span.bytes).extensions)
        #expect(extensions.range(of: 5, in: packet.span.bytes) == 18..<18)
        #expect(extensions.range(of: 32, in: packet.span.bytes) == 21..<24)
    }

    @Test func `an extension element over the end is absent and reported`() throws {
        let packet: [UInt8] = [0x90] + Self.minimal.dropFirst() + [0xBE, 0xDE, 0x00, 0x01, 0x10, 0x61, 0x2F, 0x00]
        let extensions = try #require(try RTPHeader(parsing: packet.span.bytes).extensions)
        #expect(extensions.range(of: 1, in: packet.span.bytes) == 17..<18)
        #expect(extensions.range(of: 2, in: packet.span.bytes) == nil)
        #expect(throws: RTPError.invalidExtension) { try extensions.forEach(in: packet.span.bytes) { _, _ in } }
    }

    @Test func `any bytes parse or throw, and ranges stay inside`() {
        var generator = SplitMix64(seed: 8)
        for _ in 0..<20_000 {
            var packet = Self.full
            for _ in 0..<4 {
                packet[Int.random(in: 0..<packet.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            packet.removeLast(Int.random(in: 0..<packet.count, using: &generator))
            guard let header = try? RTPHeader(parsing: packet.span.bytes) else { continue }
            #expect(header.payload(inPacketOf: packet.count).upperBound <= packet.count)
            try? header.extensions?.forEach(in: packet.span.bytes) { _, range in #expect(range.upperBound <= packet.count) }
        }
    }
}
