import CSRTP

/// libsrtp in this process, with types of our own where the way it calls OpenSSL 3.0 costs as much as the cryptography.
///
/// It tries a type on its own vectors and on ours before it takes it, and keeps its own type if one of them fails.
enum SRTPLibrary {
    static var status: srtp_err_status_t { started.status }
    /// Of AES-128-GCM and HMAC-SHA-1, in this order.
    static var areTypesReplaced: (Bool, Bool) { (started.hasOwnCipher, started.hasOwnAuthentication) }

    /// `srtp_init` runs once in a process, before any session is made.
    private static let started: (status: srtp_err_status_t, hasOwnCipher: Bool, hasOwnAuthentication: Bool) = {
        let status = srtp_init()
        guard status == srtp_err_status_ok else { return (status, false, false) }
        let cipher = unsafe GCMCipherType.type.map { unsafe srtp_replace_cipher_type($0, $0.pointee.id) }
        let authentication = unsafe srtp_replace_auth_type(HMACSHA1Type.type, HMACSHA1Type.type.pointee.id)
        return (status, cipher == srtp_err_status_ok, authentication == srtp_err_status_ok)
    }()
}

/// What libsrtp tries our types on, besides its own cases, before it takes them. Made once, never freed: a type points to it.
enum SelfTest {
    /// RFC 7714 §16.1.1, "Gallia est omnis divisa in partes tres". libsrtp's keys carry a salt, which the cipher does not use.
    static func aes128GCM() -> UnsafePointer<srtp_cipher_test_case_t> {
        let key = unsafe kept(Array(0..<16) + Array(repeating: 0, count: 12))
        let nonce = unsafe kept([0x51, 0x75, 0x3c, 0x65, 0x80, 0xc2, 0x72, 0x6f, 0x20, 0x71, 0x84, 0x14])
        let associated = unsafe kept([0x80, 0x40, 0xf1, 0x7b, 0x80, 0x41, 0xf8, 0xd3, 0x55, 0x01, 0xa0, 0xb2])
        let plain = unsafe kept("Gallia est omnis divisa in partes tres".utf8)
        let protected = unsafe kept([
            0xf2, 0x4d, 0xe3, 0xa3, 0xfb, 0x34, 0xde, 0x6c, 0xac, 0xba, 0x86, 0x1c, 0x9d, 0x7e, 0x4b, 0xca, 0xbe, 0x63, 0x3b,
            0xd5, 0x0d, 0x29, 0x4e, 0x6f, 0x42, 0xa5, 0xf4, 0x7a, 0x51, 0xc7, 0xd1, 0x9b, 0x36, 0xde, 0x3a, 0xdf, 0x88, 0x33,
            0x89, 0x9d, 0x7f, 0x27, 0xbe, 0xb1, 0x6a, 0x91, 0x52, 0xcf, 0x76, 0x5e, 0xe4, 0x39, 0x0c, 0xce,
        ])
        let test = UnsafeMutablePointer<srtp_cipher_test_case_t>.allocate(capacity: 1)
        unsafe test.initialize(
            to: srtp_cipher_test_case_t(
                key_length_octets: CInt(key.count), key: key.baseAddress, idx: nonce.baseAddress,
                plaintext_length_octets: UInt32(plain.count), plaintext: plain.baseAddress,
                ciphertext_length_octets: UInt32(protected.count), ciphertext: protected.baseAddress,
                aad_length_octets: CInt(associated.count), aad: associated.baseAddress, tag_length_octets: 16,
                next_test_case: nil))
        return unsafe UnsafePointer(test)
    }

    /// RFC 2202 §3, case 2.
    static func hmacSHA1() -> UnsafePointer<srtp_auth_test_case_t> {
        let key = unsafe kept("Jefe".utf8)
        let data = unsafe kept("what do ya want for nothing?".utf8)
        let tag = unsafe kept([
            0xef, 0xfc, 0xdf, 0x6a, 0xe5, 0xeb, 0x2f, 0xa2, 0xd2, 0x74, 0x16, 0xd5, 0xf1, 0x84, 0xdf, 0x9c, 0x25, 0x9a, 0x7c,
            0x79,
        ])
        let test = UnsafeMutablePointer<srtp_auth_test_case_t>.allocate(capacity: 1)
        unsafe test.initialize(
            to: srtp_auth_test_case_t(
                key_length_octets: CInt(key.count), key: key.baseAddress, data_length_octets: CInt(data.count),
                data: data.baseAddress, tag_length_octets: CInt(tag.count), tag: tag.baseAddress, next_test_case: nil))
        return unsafe UnsafePointer(test)
    }

    private static func kept(_ bytes: some Collection<UInt8>) -> UnsafeMutableBufferPointer<UInt8> {
        let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = unsafe memory.initialize(from: bytes)
        return unsafe memory
    }
}
