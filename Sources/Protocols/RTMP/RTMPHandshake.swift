/// The cryptography of the digest handshake, given by the caller because protocol code has none.
public struct HandshakeCrypto: Sendable {
    /// How many random bytes a handshake needs.
    public static let randomByteCount = RTMPHandshake.packetByteCount - 8

    /// The 32 bytes of the code (RFC 2104).
    let hmacSHA256: @Sendable (_ key: [UInt8], _ message: [UInt8]) -> [UInt8]
    /// What S1 and S2 are filled with. All handshakes may have the same: "there is no need for cryptographically-secure
    /// randomness, or even dynamic values" (RTMP 1.0 §5.2.3).
    let randomBytes: [UInt8]

    /// - Parameter randomBytes: `randomByteCount` of them.
    public init(hmacSHA256: @escaping @Sendable ([UInt8], [UInt8]) -> [UInt8], randomBytes: [UInt8]) {
        precondition(randomBytes.count == Self.randomByteCount, "S1 has a fixed size")
        (self.hmacSHA256, self.randomBytes) = (hmacSHA256, randomBytes)
    }
}

/// The server's side of the handshake (RTMP 1.0 §5.2): C0 and C1 are answered with S0, S1 and S2; C2 is passed over unread.
///
/// A C1 with a valid digest gets digests back; any other gets itself as S2, byte for byte: GStreamer insists on it.
enum RTMPHandshake {
    static let version: UInt8 = 3
    static let packetByteCount = 1_536
    /// FMS 3.5.1.1, as servers have claimed for years: some encoders look for the digest only from version 3 on.
    private static let serverVersion: [UInt8] = [3, 5, 1, 1]

    /// - Throws: `.httpRequest` or `.unsupportedVersion` for a first byte that no RTMP peer sends.
    static func check(version: UInt8) throws(RTMPError) {
        guard version != Self.version else { return }
        let isHTTP = "GPHODCT".utf8.contains(version)
        throw isHTTP ? .httpRequest : .unsupportedVersion(version)
    }

    /// S0, S1 and S2 for a C1 of 1,536 bytes.
    static func answer(c1: [UInt8], _ crypto: HandshakeCrypto) -> [UInt8] {
        let digest = HandshakeDigest(crypto: crypto)
        var answer: [UInt8] = []
        answer.reserveCapacity(1 + 2 * packetByteCount)
        answer.append(version)
        if c1[4..<8].contains(where: { $0 != 0 }), let found = digest.find(inC1: c1) {
            var s1 = [0, 0, 0, 0] + serverVersion + crypto.randomBytes
            digest.sign(s1: &s1, found.schema)
            answer += s1
            answer += digest.makeS2(c1Digest: found.digest)
        } else {
            answer += [0, 0, 0, 0, 0, 0, 0, 0]
            answer += crypto.randomBytes
            answer += c1
        }
        return answer
    }
}

/// The digest that Flash Player 9 and later hide in C1, and what FMLE-class encoders want to see in S1 and S2.
///
/// Adobe never published it; both schemas, keys and offsets are those that FFmpeg, SRS and nginx-rtmp agree on.
struct HandshakeDigest {
    static let byteCount = 32
    private static let playerKey = Array("Genuine Adobe Flash Player 001".utf8)
    private static let serverKey = Array("Genuine Adobe Flash Media Server 001".utf8)
    private static let sharedSuffix: [UInt8] = [
        0xF0, 0xEE, 0xC2, 0x4A, 0x80, 0x68, 0xBE, 0xE8, 0x2E, 0x00, 0xD0, 0xD1, 0x02, 0x9E, 0x7E, 0x57,
        0x6E, 0xEC, 0x5D, 0x2D, 0x29, 0x80, 0x6F, 0xAB, 0x93, 0xB8, 0xE6, 0x36, 0xCF, 0xEB, 0x31, 0xAE,
    ]

    /// Where the four bytes lie whose sum gives the digest's offset: behind the version (schema 0), or
    /// behind the key block (schema 1).
    enum Schema: Int, CaseIterable { case digestFirst = 8, keyFirst = 772 }

    let crypto: HandshakeCrypto

    /// The digest of a C1 that has a valid one, and its schema.
    func find(inC1 c1: [UInt8]) -> (schema: Schema, digest: [UInt8])? {
        for schema in Schema.allCases {
            let range = range(in: c1, schema)
            let digest = Array(c1[range])
            if digest == compute(c1, without: range, key: Self.playerKey) { return (schema, digest) }
        }
        return nil
    }

    /// Writes the server's digest over its place in `s1`.
    func sign(s1: inout [UInt8], _ schema: Schema) {
        let range = range(in: s1, schema)
        s1.replaceSubrange(range, with: compute(s1, without: range, key: Self.serverKey))
    }

    /// S2: random bytes and their digest, under a key made from C1's digest.
    func makeS2(c1Digest: [UInt8]) -> [UInt8] {
        let random = Array(crypto.randomBytes.prefix(RTMPHandshake.packetByteCount - Self.byteCount))
        let key = crypto.hmacSHA256(Self.serverKey + Self.sharedSuffix, c1Digest)
        return random + crypto.hmacSHA256(key, random)
    }

    private func range(in packet: [UInt8], _ schema: Schema) -> Range<Int> {
        let sum = packet[schema.rawValue..<schema.rawValue + 4].reduce(0) { $0 + Int($1) }
        let start = schema.rawValue + 4 + sum % 728
        return start..<start + Self.byteCount
    }

    private func compute(_ packet: [UInt8], without range: Range<Int>, key: [UInt8]) -> [UInt8] {
        crypto.hmacSHA256(key, Array(packet[..<range.lowerBound]) + packet[range.upperBound...])
    }
}
