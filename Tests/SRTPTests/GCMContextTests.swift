import Testing

@testable import SRTP

@Suite("GCMContext (RFC 7714 §16)")
struct GCMContextTests {
    static let key = bytes("000102030405060708090a0b0c0d0e0f")
    static let nonce = bytes("51753c6580c2726f20718414")
    static let header = bytes("8040f17b8041f8d35501a0b2")
    static let plain = Array("Gallia est omnis divisa in partes tres".utf8)
    static let protected = bytes("f24de3a3fb34de6cacba861c9d7e4bcabe633bd50d294e6f42a5f47a51c7d19b36de3adf8833")
    static let tag = bytes("899d7f27beb16a9152cf765ee4390cce")

    @Test func `encrypts the reference packet, header in one part or two`() throws {
        for cut in [Self.header.count, 4] {
            let context = try context()
            defer { context.free() }
            #expect(context.startEncryption(nonce: Self.nonce))
            #expect(context.addAssociatedData(Self.header, count: cut))
            #expect(context.addAssociatedData(Array(Self.header[cut...]) + [0], count: Self.header.count - cut))
            var (text, tag) = (Self.plain, [UInt8](repeating: 0, count: 16))
            #expect(context.process(&text, count: text.count))
            #expect(context.finish(writingTag: &tag))
            #expect(text == Self.protected)
            #expect(tag == Self.tag)
        }
    }

    @Test func `decrypts one message after the other, and none with a changed header, payload or tag`() throws {
        let context = try context()
        defer { context.free() }
        #expect(decrypted(context) == Self.plain)
        #expect(decrypted(context, header: changed(Self.header)) == nil)
        #expect(decrypted(context, protected: changed(Self.protected)) == nil)
        #expect(decrypted(context, tag: changed(Self.tag)) == nil)
        #expect(decrypted(context, nonce: changed(Self.nonce)) == nil)
        #expect(decrypted(context) == Self.plain)
    }

    @Test func `refuses to go on without a new nonce`() throws {
        let context = try context()
        defer { context.free() }
        #expect(decrypted(context) == Self.plain)
        var text = Self.protected
        #expect(!context.process(&text, count: text.count))
    }

    private func context() throws -> GCMContext {
        let provider = try #require(GCMProvider())
        let context = try #require(GCMContext(provider, tagByteCount: 16))
        #expect(context.setKey(Self.key))
        return context
    }

    private func decrypted(
        _ context: GCMContext, nonce: [UInt8] = nonce, header: [UInt8] = header, protected: [UInt8] = protected,
        tag: [UInt8] = tag
    ) -> [UInt8]? {
        var (text, tag) = (protected, tag)
        guard context.startDecryption(nonce: nonce), context.addAssociatedData(header, count: header.count),
            context.process(&text, count: text.count), context.finish(expectingTag: &tag)
        else { return nil }
        return text
    }

    private func changed(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        bytes[bytes.count - 1] ^= 1
        return bytes
    }
}
