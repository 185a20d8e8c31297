import COpenSSL
public import Wire

/// A private key. It prints nothing of itself; its PEM is a `Secret`.
@safe
public final class PrivateKey: Sendable {
    // An EVP_PKEY is counted by reference, with atomic counts, and never changed after it is made.
    package nonisolated(unsafe) let handle: OpaquePointer

    package init(owning handle: OpaquePointer) { unsafe self.handle = handle }

    deinit { unsafe EVP_PKEY_free(handle) }

    /// A new key on P-256, which every TLS and DTLS peer takes.
    static func makeP256() throws(OpenSSLError) -> PrivateKey {
        let context = unsafe try OpenSSLError.check(EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil), "EVP_PKEY_CTX_new_id")
        defer { unsafe EVP_PKEY_CTX_free(context) }
        try OpenSSLError.check(unsafe EVP_PKEY_keygen_init(context), "EVP_PKEY_keygen_init")
        try OpenSSLError.check(
            unsafe EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1), "EVP_PKEY_CTX_set_ec_paramgen_curve_nid"
        )
        var key: OpaquePointer?
        try OpenSSLError.check(unsafe EVP_PKEY_keygen(context, &key), "EVP_PKEY_keygen")
        return unsafe PrivateKey(owning: try OpenSSLError.check(key, "EVP_PKEY_keygen"))
    }

    /// Reads the first private key of a PEM text, of any type. Encrypted keys are refused: nobody is there to type a password.
    public convenience init(pem: [UInt8]) throws(OpenSSLError) {
        try PEM.checkLength(of: pem)
        let key = unsafe try PEM.reading(pem) { (bio) throws(OpenSSLError) in
            unsafe try OpenSSLError.check(PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in -1 }, nil), "PEM_read_bio_PrivateKey")
        }
        unsafe self.init(owning: key)
    }

    /// PKCS #8, not encrypted.
    public func pem() throws(OpenSSLError) -> Secret {
        let text = unsafe try PEM.writing { (bio) throws(OpenSSLError) in
            try OpenSSLError.check(
                unsafe PEM_write_bio_PKCS8PrivateKey(bio, handle, nil, nil, 0, nil, nil), "PEM_write_bio_PKCS8PrivateKey")
        }
        return Secret(text)
    }
}
