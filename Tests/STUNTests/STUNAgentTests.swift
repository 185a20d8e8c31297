import STUN
import TestSupport
import Testing
import Wire

@Suite("Lite ICE agent (RFC 8445 §2.5)")
struct STUNAgentTests {
    static let password = Array("VOkJxbRl1RmTxUk/WvJxBt".utf8)
    static let source = SocketAddress("192.0.2.1:32853")!

    /// RFC 5769 §2.1: a request with fingerprint, from a peer that says it is controlled.
    static let sampleRequest: [UInt8] = [
        0x00, 0x01, 0x00, 0x58, 0x21, 0x12, 0xA4, 0x42,  // Binding request, length, magic cookie
        0xB7, 0xE7, 0xA7, 0x01, 0xBC, 0x34, 0xD6, 0x86, 0xFA, 0x87, 0xDF, 0xAE,  // transaction id
        0x80, 0x22, 0x00, 0x10, 0x53, 0x54, 0x55, 0x4E, 0x20, 0x74, 0x65, 0x73, 0x74, 0x20, 0x63, 0x6C, 0x69, 0x65, 0x6E, 0x74,
        0x00, 0x24, 0x00, 0x04, 0x6E, 0x00, 0x01, 0xFF,  // PRIORITY
        0x80, 0x29, 0x00, 0x08, 0x93, 0x2F, 0xF9, 0xB1, 0x51, 0x26, 0x3B, 0x36,  // ICE-CONTROLLED
        0x00, 0x06, 0x00, 0x09, 0x65, 0x76, 0x74, 0x6A, 0x3A, 0x68, 0x36, 0x76, 0x59, 0x20, 0x20, 0x20,  // USERNAME evtj:h6vY
        0x00, 0x08, 0x00, 0x14, 0x9A, 0xEA, 0xA7, 0x0C, 0xBF, 0xD8, 0xCB, 0x56, 0x78, 0x1E, 0xF2, 0xB5,  // MESSAGE-INTEGRITY
        0xB2, 0xD3, 0xF2, 0x49, 0xC1, 0xB5, 0x71, 0xA2,
        0x80, 0x28, 0x00, 0x04, 0xE5, 0x7A, 0x3B, 0xCF,  // FINGERPRINT
    ]

    @Test func `verifies the sample of RFC 5769 and answers its wrong role with 487`() throws {
        let (answer, reply) = try answer(Self.sampleRequest)
        guard case .roleConflict = answer else {
            Issue.record("\(answer)")
            return
        }
        #expect(Array(reply[0..<2]) == [0x01, 0x11])
        #expect(
            reply.indices.contains { reply[$0...].starts(with: [0x00, 0x09, 0x00]) && reply[$0 + 6] == 4 && reply[$0 + 7] == 87 })
    }

    @Test(arguments: ["192.0.2.1:32853", "[2001:db8:1234:5678:11:2233:4455:6677]:32853"])
    func `answers a check with the address it came from`(_ text: String) throws {
        let source = SocketAddress(text)!
        let request = STUNClient().check(username: "AbcdefGh:peer", password: Self.password, useCandidate: true)
        let (answer, reply) = try answer(request, from: source)
        #expect(answer == .success(byteCount: reply.count))
        #expect(Array(reply[0..<2]) == [0x01, 0x01])
        #expect(Array(reply[8..<20]) == Array(request[8..<20]))
        // XOR-MAPPED-ADDRESS of RFC 5769 §2.2 and §2.3: port 32853 turns into 0xa147.
        let mapped: [UInt8] =
            source.ip.isV4
            ? [0x00, 0x20, 0x00, 0x08, 0x00, 0x01, 0xA1, 0x47, 0xE1, 0x12, 0xA6, 0x43]
            : [0x00, 0x20, 0x00, 0x14, 0x00, 0x02, 0xA1, 0x47, 0x01, 0x13, 0xA9, 0xFA]
        #expect(reply.indices.contains { reply[$0...].starts(with: mapped) })
    }

    @Test func `reads the ufrag and the nomination of a check`() throws {
        let request = STUNClient().check(username: "AbcdefGh:peer", password: Self.password, useCandidate: true)
        let message = try #require(request.withUnsafeBytes { STUNMessage(preChecking: $0) })
        #expect(message.isBindingRequest && message.useCandidate && message.hasIntegrity && message.hasFingerprint)
        #expect(message.localUfrag == LocalUfrag("AbcdefGh"))
    }

    @Test func `says nothing to a check with another password`() {
        #expect(throws: STUNError.unauthorized) { try answer(Self.sampleRequest, password: Array("another".utf8)) }
    }

    @Test func `says nothing to a check with changed bytes`() {
        for index in Self.sampleRequest.indices {
            var changed = Self.sampleRequest
            changed[index] ^= 0x01
            #expect(throws: STUNError.self) { try answer(changed) }
        }
    }

    @Test func `tolerates a check without PRIORITY and ICE-CONTROLLING`() throws {
        // USERNAME evtj:h6vY, MESSAGE-INTEGRITY, FINGERPRINT: what an old ffmpeg sends.
        let bare: [UInt8] = [
            0x00, 0x01, 0x00, 0x30, 0x21, 0x12, 0xA4, 0x42, 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A,
            0x0B,
            0x00, 0x06, 0x00, 0x09, 0x65, 0x76, 0x74, 0x6A, 0x3A, 0x68, 0x36, 0x76, 0x59, 0x00, 0x00, 0x00, 0x00, 0x08, 0x00,
            0x14,
            0x08, 0x91, 0x36, 0x13, 0x97, 0xDF, 0xFE, 0x1B, 0x48, 0x0A, 0xFD, 0x5C, 0x9B, 0x3F, 0xBE, 0x9B, 0xBE, 0x37, 0x20,
            0x97,
            0x80, 0x28, 0x00, 0x04, 0xAC, 0x87, 0xF7, 0x08,
        ]
        let (answer, _) = try answer(bare)
        guard case .success = answer else {
            Issue.record("\(answer)")
            return
        }
    }

    @Test func `answers 420 to a genuine check with an attribute that must be understood`() throws {
        // USERNAME evtj:h6vY, 0x0026, MESSAGE-INTEGRITY, FINGERPRINT.
        let request: [UInt8] = [
            0x00, 0x01, 0x00, 0x34, 0x21, 0x12, 0xA4, 0x42, 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0A,
            0x0B,
            0x00, 0x06, 0x00, 0x09, 0x65, 0x76, 0x74, 0x6A, 0x3A, 0x68, 0x36, 0x76, 0x59, 0x00, 0x00, 0x00, 0x00, 0x26, 0x00,
            0x00,
            0x00, 0x08, 0x00, 0x14, 0x04, 0x47, 0x54, 0xE7, 0x89, 0x3F, 0x51, 0x3A, 0xE3, 0x32, 0x1F, 0xFB, 0x68, 0x04, 0xCE,
            0x31,
            0xAF, 0x39, 0xB5, 0x66, 0x80, 0x28, 0x00, 0x04, 0x38, 0xF6, 0x21, 0xAA,
        ]
        let (answer, reply) = try answer(request)
        #expect(answer == .unknownAttributes(byteCount: reply.count))
        #expect(Array(reply[0..<2]) == [0x01, 0x11])
        #expect(
            reply.indices.contains { reply[$0...].starts(with: [0x00, 0x09, 0x00]) && reply[$0 + 6] == 4 && reply[$0 + 7] == 20 })
        #expect(reply.indices.contains { reply[$0...].starts(with: [0x00, 0x0A, 0x00, 0x02, 0x00, 0x26]) })
        #expect(throws: STUNError.unauthorized) { try self.answer(request, password: Array("another".utf8)) }
    }

    @Test(arguments: 0..<sampleRequest.count)
    func `pre-check refuses every cut`(_ count: Int) {
        #expect(Array(Self.sampleRequest[..<count]).withUnsafeBytes { STUNMessage(preChecking: $0) } == nil)
    }

    /// The message that makes libnice 0.1.21 read past the datagram.
    @Test func `pre-check refuses an empty MESSAGE-INTEGRITY`() {
        var bytes = Array(Self.sampleRequest[..<20]) + [0x00, 0x08, 0x00, 0x00]
        bytes[3] = 4
        #expect(bytes.withUnsafeBytes { STUNMessage(preChecking: $0) } == nil)
    }

    /// One attribute of zeros, padded.
    /// - Parameter length: what it says of itself, where that is not `count`.
    private static func attribute(_ type: UInt16, _ count: Int, says length: Int? = nil) -> [UInt8] {
        var writer = ByteWriter()
        writer.write(type)
        writer.write(UInt16(length ?? count))
        return writer.bytes + [UInt8](repeating: 0, count: (count + 3) / 4 * 4)
    }

    /// A Binding request whose header is right: what is wrong is within.
    private static func isRead(_ attributes: [UInt8]) -> Bool {
        var writer = ByteWriter()
        writer.write(contentsOf: sampleRequest[..<2])
        writer.write(UInt16(attributes.count))
        writer.write(contentsOf: sampleRequest[4..<20])
        writer.write(contentsOf: attributes)
        return writer.bytes.withUnsafeBytes { STUNMessage(preChecking: $0) != nil }
    }

    static let misread: [(String, [UInt8])] = [
        ("what lies beyond the end", attribute(0x8022, 4, says: 8)),
        ("padding beyond the end", attribute(0x8022, 4, says: 5)),
        ("a MESSAGE-INTEGRITY of 16 bytes", attribute(0x0008, 16)),
        ("a FINGERPRINT of 8", attribute(0x8028, 8)),
        ("what follows MESSAGE-INTEGRITY", attribute(0x0008, 20) + attribute(0x0024, 4)),
        ("what follows FINGERPRINT", attribute(0x8028, 4) + attribute(0x8022, 0)),
        ("a second USERNAME", attribute(0x0006, 9) + attribute(0x0006, 9)),
        ("a USERNAME of 514 bytes", attribute(0x0006, 514)),
        ("a PRIORITY of 8", attribute(0x0024, 8)),
        ("a USE-CANDIDATE that has a value", attribute(0x0025, 4)),
        ("an ICE-CONTROLLED of 4", attribute(0x8029, 4)),
        ("an ICE-CONTROLLING of 4", attribute(0x802A, 4)),
        ("25 attributes", (0..<25).flatMap { _ in attribute(0x8022, 0) }),
        ("1,504 bytes", attribute(0x8022, 1_480)),
    ]

    @Test(arguments: misread)
    func `pre-check refuses`(_ what: String, _ attributes: [UInt8]) { #expect(!Self.isRead(attributes), "\(what)") }

    static let wellRead: [(String, [UInt8])] = [
        ("both checksums", attribute(0x0006, 513) + attribute(0x0008, 20) + attribute(0x8028, 4)),
        ("a nomination", attribute(0x0025, 0) + attribute(0x802A, 8) + attribute(0x0024, 4)),
        ("24 attributes", (0..<24).flatMap { _ in attribute(0x8022, 0) }),
        ("1,500 bytes", attribute(0x8022, 1_476)),
    ]

    @Test(arguments: wellRead)
    func `pre-check takes`(_ what: String, _ attributes: [UInt8]) { #expect(Self.isRead(attributes), "\(what)") }

    @Test func `survives 200,000 mutated messages`() {
        var generator = SplitMix64(seed: 7)
        let agent = STUNAgent()
        var reply = [UInt8](repeating: 0, count: STUNAgent.maximumReplyByteCount)
        for _ in 0..<200_000 {
            var bytes = Self.sampleRequest
            for _ in 0..<Int(generator.next() % 4) + 1 {
                bytes[Int(generator.next() % UInt64(bytes.count))] = UInt8(generator.next() & 255)
            }
            bytes.withUnsafeBytes { request in
                guard STUNMessage(preChecking: request) != nil else { return }
                _ = reply.withUnsafeMutableBytes {
                    try? agent.answer(request, password: Self.password, from: Self.source, into: $0)
                }
            }
        }
    }

    private func answer(
        _ request: [UInt8], password: [UInt8] = password, from source: SocketAddress = source
    ) throws -> (STUNAgent.Answer, [UInt8]) {
        let agent = STUNAgent()
        var reply = [UInt8](repeating: 0, count: STUNAgent.maximumReplyByteCount)
        let answer = try request.withUnsafeBytes { request in
            guard STUNMessage(preChecking: request) != nil else { throw STUNError.malformed }
            return try reply.withUnsafeMutableBytes { try agent.answer(request, password: password, from: source, into: $0) }
        }
        switch answer {
        case .success(let count), .roleConflict(let count), .unknownAttributes(let count): return (answer, Array(reply[..<count]))
        }
    }
}
