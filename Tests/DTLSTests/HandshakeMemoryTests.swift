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

    @Test func `an association has none of its handshake's pages when that is done`() throws {
        let ends = try makeEnds()
        try ends[0].start()
        var buffers: [UnsafeMutableRawPointer?] = [nil, nil]
        try run(ends) { turn in
            for (index, end) in ends.enumerated() { buffers[index] = buffers[index] ?? end.handshakeMemory.buffer }
            #expect(turn > 0 || buffers[1] != nil)
        }
        for (end, buffer) in zip(ends, buffers) {
            let bytes = try #require(buffer)
            #expect(end.handshakeMemory.buffer == nil)
            #expect((0..<16_384).allSatisfy { bytes.load(fromByteOffset: $0, as: UInt8.self) == 0 })
        }
    }

    /// OpenSSL alone keeps 41 kB of each end, and more between them: 16 are given back.
    @Test(.enabled(if: SimulatedDay.isWhole, "memory is the whole process'; part of `make soak`"))
    func `an association costs at most 38 kB`() throws {
        let context = try DTLSContext(DTLSCertificate.make())
        var all: [DTLSConnection] = []
        func make(_ count: Int) throws {
            for _ in 0..<count {
                let ends = try makeEnds(context)
                try ends[0].start()
                try run(ends) { _ in }
                all += ends
            }
        }
        try make(20)
        let (before, count) = (SimulatedDay.residentBytes, 400)
        try make(count / 2)
        #expect((SimulatedDay.residentBytes - before) / count < 38_000)
    }

    private func makeEnds(_ context: DTLSContext? = nil) throws -> [DTLSConnection] {
        let context = try context ?? DTLSContext(DTLSCertificate.make())
        return try [DTLSConnection.Role.client, .server].map {
            try DTLSConnection(context, role: $0, expecting: [Pair.fingerprint(of: context.certificate)])
        }
    }

    /// Carries datagrams until both are done.
    private func run(_ ends: [DTLSConnection], after: (_ turn: Int) -> Void) throws {
        var doneCount = 0
        for turn in 0..<8 {
            for datagram in ends[turn % 2].takeOutgoing() {
                if try ends[(turn + 1) % 2].receive(datagram) != .none { doneCount += 1 }
            }
            after(turn)
        }
        try #require(doneCount == 2)
    }
}
