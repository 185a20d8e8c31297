/// The cryptography of the digest handshake, given by the caller because protocol code has none.
public struct HandshakeCrypto {
    public var hmacSHA256: (_ key: [UInt8], _ message: [UInt8]) -> [UInt8]
    /// As many bytes as asked for, from any good generator.
    public var randomBytes: (Int) -> [UInt8]

    public init(hmacSHA256: @escaping ([UInt8], [UInt8]) -> [UInt8], randomBytes: @escaping (Int) -> [UInt8]) {
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
        let random = crypto.randomBytes(packetByteCount - 8)
        guard c1[4..<8] != [0, 0, 0, 0], let found = digest.find(inC1: c1) else {
            return [version] + [UInt8](repeating: 0, count: 8) + random + c1
        }
        var s1 = [0, 0, 0, 0] + serverVersion + random
        digest.sign(s1: &s1, found.schema)
        return [version] + s1 + digest.makeS2(c1Digest: found.digest)
    }
}
