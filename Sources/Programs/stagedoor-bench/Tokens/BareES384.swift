import COpenSSL

/// OpenSSL's own ES384 verification and nothing else: the floor that a token verifier is measured against.
struct BareES384: ~Copyable {
    /// A signature as OpenSSL takes it, with what it signs.
    struct Signed {
        var message: [UInt8]
        var der: [UInt8]

        /// - Parameter signature: raw R‖S, as a JWS carries it.
        init(message: [UInt8], signature: [UInt8]) {
            self.message = message
            let pair = ECDSA_SIG_new()
            defer { ECDSA_SIG_free(pair) }
            let half = CInt(signature.count / 2)
            signature.withUnsafeBufferPointer { raw in
                _ = ECDSA_SIG_set0(
                    pair, BN_bin2bn(raw.baseAddress, half, nil), BN_bin2bn(raw.baseAddress! + Int(half), half, nil))
            }
            var bytes: UnsafeMutablePointer<UInt8>?
            let count = i2d_ECDSA_SIG(pair, &bytes)
            der = Array(UnsafeBufferPointer(start: bytes, count: Int(count)))
            CRYPTO_free(bytes, nil, 0)
        }
    }

    private let key: OpaquePointer

    /// - Parameter pem: a public key, SubjectPublicKeyInfo. Nil when it is none.
    init?(pem: [UInt8]) {
        let source = BIO_new_mem_buf(pem, CInt(pem.count))
        defer { BIO_free(source) }
        guard let key = PEM_read_bio_PUBKEY(source, nil, nil, nil) else { return nil }
        self.key = key
    }

    deinit { EVP_PKEY_free(key) }

    borrowing func isValid(_ signed: Signed) -> Bool {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        return EVP_DigestVerifyInit(context, nil, EVP_sha384(), nil, key) == 1
            && EVP_DigestVerify(context, signed.der, signed.der.count, signed.message, signed.message.count) == 1
    }
}
