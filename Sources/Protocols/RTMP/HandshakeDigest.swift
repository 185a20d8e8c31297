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

    /// Where the four bytes lie whose sum gives the digest's offset: behind the version (schema 0), or behind the key block (schema 1).
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
        let random = crypto.randomBytes(RTMPHandshake.packetByteCount - Self.byteCount)
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
