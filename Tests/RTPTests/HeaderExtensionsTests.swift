import Testing
import Wire

@testable import RTP

@Suite("Header extensions (RFC 8285)")
struct HeaderExtensionsTests {
    /// Identifiers and lengths, and how many bytes they take with header and padding.
    @Test(
        arguments: [
            ([], 0), ([(1, 1)], 8), ([(14, 16)], 24), ([(3, 2), (1, 1)], 12), ([(1, 1), (2, 4)], 12),
        ] as [([(id: UInt8, count: Int)], Int)])
    func `what is composed is read again`(_ shape: [(id: UInt8, count: Int)], _ byteCount: Int) throws {
        let elements = shape.map { shape in (id: shape.id, value: (0..<shape.count).map { UInt8($0) + shape.id }) }
        let bytes = HeaderExtensions.oneByte(elements)
        #expect(bytes.count == byteCount)
        guard !bytes.isEmpty else { return }
        #expect(Array(bytes.prefix(4)) == [0xBE, 0xDE, 0, UInt8(byteCount / 4 - 1)])
        let extensions = HeaderExtensions(profile: HeaderExtensions.oneByteProfile, offset: 4, byteCount: byteCount - 4)
        var read: [UInt8: [UInt8]] = [:]
        try extensions.forEach(in: bytes.span.bytes) { read[$0] = Array(bytes[$1]) }
        #expect(read == Dictionary(uniqueKeysWithValues: elements.map { ($0.id, $0.value) }))
    }
}
