import COpenSSL
import TestSupport
import Testing

@testable import DTLS

@Suite
struct HandshakeMemoryTests {
    /// As `BUF_MEM_grow` asks for it.
    private static let byteCount = 21_848

    private func allocate(_ count: Int, in place: UnsafeMutableRawPointer? = nil) throws -> UnsafeMutableRawPointer {
        try #require(CRYPTO_realloc(place, count, #file, CInt(#line)))
    }

    @Test func `what is given back has no pages until it is written to`() throws {
        var memory = HandshakeMemory()
        let bytes = try #require(memory.during { try? allocate(Self.byteCount) })
        defer { CRYPTO_free(bytes, #file, CInt(#line)) }
        bytes.initializeMemory(as: UInt8.self, repeating: 7, count: Self.byteCount)
        memory.giveBack()
        // The kernel's pages are empty ones.
        #expect((0..<16_384).allSatisfy { bytes.load(fromByteOffset: $0, as: UInt8.self) == 0 })
    }

    /// A peer may make OpenSSL want more room for a message, or free it: its place is somebody else's then.
    @Test(arguments: [true, false]) func `what has moved or gone is left alone`(_ moves: Bool) throws {
        var memory = HandshakeMemory()
        let buffer = try #require(memory.during { try? allocate(Self.byteCount) })
        let moved = memory.during {
            if moves { return try? allocate(4 * Self.byteCount, in: buffer) }
            CRYPTO_free(buffer, #file, CInt(#line))
            return nil
        }
        let next = try moved ?? allocate(Self.byteCount)
        defer { CRYPTO_free(next, #file, CInt(#line)) }
        next.initializeMemory(as: UInt8.self, repeating: 7, count: Self.byteCount)
        memory.giveBack()
        #expect((0..<Self.byteCount).allSatisfy { next.load(fromByteOffset: $0, as: UInt8.self) == 7 })
    }

    /// OpenSSL alone keeps 41 kB of each end, and more between them: 16 are given back.
    @Test func `an association keeps less than what its handshake took`() throws {
        let context = try DTLSContext(DTLSCertificate.make())
        var ends: [DTLSConnection] = []
        for _ in 0..<20 { ends += try pair(in: context) }
        let (before, count) = (SimulatedDay.residentBytes, 200)
        for _ in 0..<count { ends += try pair(in: context) }
        #expect((SimulatedDay.residentBytes - before) / ends.count < 38_000)
    }

    /// Both ends of an association whose handshake is done.
    private func pair(in context: DTLSContext) throws -> [DTLSConnection] {
        let ends = try [DTLSConnection.Role.client, .server].map {
            try DTLSConnection(context, role: $0, expecting: [Pair.fingerprint(of: context.certificate)])
        }
        try ends[0].start()
        var count = 0
        for turn in 0..<8 {
            for datagram in ends[turn % 2].takeOutgoing() {
                if try ends[(turn + 1) % 2].receive(datagram) != .none { count += 1 }
            }
        }
        try #require(count == 2)
        return ends
    }
}
