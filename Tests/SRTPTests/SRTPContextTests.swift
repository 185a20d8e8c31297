import SRTP
import Testing
import Wire

@Suite("SRTP (RFC 3711, RFC 7714)")
struct SRTPContextTests {
    /// Version 2, type 15, sequence number 0x1234, timestamp 0xdecafbad, SSRC 0xcafebabe, sixteen bytes 0xab.
    static let packet = bytes("800f1234decafbadcafebabe" + String(repeating: "ab", count: 16))

    /// The reference packets of libsrtp's own validation (test/srtp_driver.c).
    static let vectors: [(SRTPProfile, key: String, protected: String)] = [
        (
            .aes128CMSHA1_80, "e1f97a0d3e018be0d64fa32c06de41390ec675ad498afeebb6960b3aabe6",
            "800f1234decafbadcafebabe4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb"
        ),
        (
            .aeadAES128GCM, "000102030405060708090a0b0c0d0e0fa0a1a2a3a4a5a6a7a8a9aaab",
            "800f1234decafbadcafebabec5002ede04cfdd2eb91159e0880aa06ed2976826f796b201df3131a127e8a392"
        ),
    ]

    @Test(arguments: vectors.indices)
    func `protects and unprotects the reference packet`(_ index: Int) throws {
        let (profile, key, expected) = Self.vectors[index]
        let keys = SRTPKeys(profile: profile, keyAndSalt: Secret(bytes(key)))
        var outbound = try SRTPOutbound(keys)
        let protected = try outbound.protect(Self.packet)
        #expect(protected == bytes(expected))
        var inbound = try SRTPInbound(keys)
        #expect(try inbound.unprotect(protected) == Self.packet)
    }

    @Test(arguments: SRTPProfile.allCases)
    func `refuses replays, changed bytes and other keys, and goes on`(_ profile: SRTPProfile) throws {
        let keys = keys(profile, seed: 1)
        var outbound = try SRTPOutbound(keys)
        var inbound = try SRTPInbound(keys)
        let first = try outbound.protect(Self.packet)
        var changed = first
        changed[13] ^= 1
        var failure = inbound.failure(of: changed)
        #expect(failure == .authenticationFailed)
        #expect(inbound.sourceCount == 0)
        #expect(try inbound.unprotect(first) == Self.packet)
        failure = inbound.failure(of: first)
        #expect(failure == .replayed)
        var other = try SRTPInbound(self.keys(profile, seed: 2))
        failure = other.failure(of: first)
        #expect(failure == .authenticationFailed)
    }

    @Test(arguments: SRTPProfile.allCases)
    func `takes a packet 2,000 late and refuses one beyond the window`(_ profile: SRTPProfile) throws {
        let keys = keys(profile, seed: 3)
        var outbound = try SRTPOutbound(keys)
        var inbound = try SRTPInbound(keys)
        let protected = try (0..<2_100).map { try outbound.protect(Self.packet(sequenceNumber: UInt16($0))) }
        #expect(try inbound.unprotect(protected[2_099]).count == Self.packet.count)
        #expect(try inbound.unprotect(protected[99]).count == Self.packet.count)
        let failure = inbound.failure(of: protected[3])
        #expect(failure == .tooOld)
    }

    @Test(arguments: SRTPProfile.allCases)
    func `holds a bounded number of sources`(_ profile: SRTPProfile) throws {
        let keys = keys(profile, seed: 4)
        var outbound = try SRTPOutbound(keys)
        var inbound = try SRTPInbound(keys)
        for source in 0..<SRTPInbound.maximumSourceCount {
            _ = try inbound.unprotect(try outbound.protect(Self.packet(ssrc: UInt8(source))))
        }
        let failure = inbound.failure(of: try outbound.protect(Self.packet(ssrc: 200)))
        #expect(failure == .tooManySources)
        #expect(try inbound.unprotect(try outbound.protect(Self.packet(sequenceNumber: 2, ssrc: 0))).count == 28)
    }

    @Test(arguments: SRTPProfile.allCases)
    func `protects control packets`(_ profile: SRTPProfile) throws {
        let keys = keys(profile, seed: 5)
        var outbound = try SRTPOutbound(keys)
        var inbound = try SRTPInbound(keys)
        let report = bytes("81c90007cafebabedeadbeef0000000000001234000000000000000000000000")
        var buffer = report + [UInt8](repeating: 0, count: SRTPOutbound.trailerByteCount)
        let count = try buffer.withUnsafeMutableBytes { try outbound.protectControl($0, count: report.count) }
        #expect(count == report.count + 4 + (profile == .aeadAES128GCM ? 16 : 10))
        let plain = try buffer[..<count].withUnsafeMutableBytes { try inbound.unprotectControl($0) }
        #expect(Array(buffer[..<plain]) == report)
    }

    @Test(arguments: SRTPProfile.allCases)
    func `refuses every cut of a packet`(_ profile: SRTPProfile) throws {
        let keys = keys(profile, seed: 6)
        var outbound = try SRTPOutbound(keys)
        var inbound = try SRTPInbound(keys)
        let protected = try outbound.protect(Self.packet)
        for count in protected.indices {
            let failure = inbound.failure(of: Array(protected[..<count]))
            #expect(failure != nil)
        }
    }

    @Test func `orders the exporter's bytes as RFC 5764 §4.2 does`() {
        let exported = Secret((0..<60).map { UInt8($0) })
        let pair = SRTPKeys.pair(exported: exported, profile: .aes128CMSHA1_80)
        #expect(pair.client.keyAndSalt.reveal() == Array(0..<16) + Array(32..<46))
        #expect(pair.server.keyAndSalt.reveal() == Array(16..<32) + Array(46..<60))
    }

    static func packet(sequenceNumber: UInt16 = 1, ssrc: UInt8 = 0xBE) -> [UInt8] {
        var packet = packet
        (packet[2], packet[3], packet[11]) = (UInt8(sequenceNumber >> 8), UInt8(sequenceNumber & 255), ssrc)
        return packet
    }

    private func keys(_ profile: SRTPProfile, seed: UInt8) -> SRTPKeys {
        let count = profile.masterKeyByteCount + profile.masterSaltByteCount
        return SRTPKeys(profile: profile, keyAndSalt: Secret((0..<count).map { UInt8($0) &+ seed }))
    }
}

extension SRTPOutbound {
    mutating func protect(_ packet: [UInt8]) throws -> [UInt8] {
        var buffer = packet + [UInt8](repeating: 0, count: Self.trailerByteCount)
        let count = try buffer.withUnsafeMutableBytes { try protect($0, count: packet.count) }
        return Array(buffer[..<count])
    }
}

extension SRTPInbound {
    mutating func unprotect(_ packet: [UInt8]) throws -> [UInt8] {
        var buffer = packet
        let count = try buffer.withUnsafeMutableBytes { try unprotect($0) }
        return Array(buffer[..<count])
    }

    mutating func failure(of packet: [UInt8]) -> SRTPError? {
        do {
            _ = try unprotect(packet)
            return nil
        } catch {
            return error as? SRTPError
        }
    }
}

/// The bytes that hexadecimal text spells.
func bytes(_ hex: String) -> [UInt8] { [UInt8](hexadecimal: hex) ?? [] }
