import OpenSSL
import RTMP

extension HandshakeCrypto {
    /// With random bytes that are made once a process.
    static let openSSL = HandshakeCrypto(
        hmacSHA256: { HMAC.sha256(key: $0, $1) }, randomBytes: Random.bytes(count: randomByteCount))
}
