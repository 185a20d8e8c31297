import COpenSSL
import Wire

/// OpenSSL's DTLS 1.2 settings with one certificate (RFC 8827 §6.5): one per worker and certificate, shared by its connections.
@safe public final class DTLSContext {
    let context: OpaquePointer
    /// Its fingerprint stands in the descriptions of all connections.
    public let certificate: DTLSCertificate

    /// Offered, and as a server taken, in this order: GCM costs half of AES-CM with HMAC.
    public static let srtpProfiles = "SRTP_AEAD_AES_128_GCM:SRTP_AES128_CM_SHA1_80"

    /// - Parameter srtpProfiles: OpenSSL's names of the profiles, the preferred one first.
    public init(_ certificate: DTLSCertificate, srtpProfiles: String = srtpProfiles) throws(DTLSError) {
        self.certificate = certificate
        guard let context = unsafe SSL_CTX_new(DTLS_method()) else { throw .unavailable }
        unsafe self.context = context
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(DTLS1_2_VERSION), nil)
        unsafe SSL_CTX_set_options(context, Self.options)
        unsafe SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, 0, nil)
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        unsafe SSL_CTX_set_cert_verify_callback(context, verifyFingerprint, nil)
        guard unsafe SSL_CTX_set_cipher_list(context, Self.ciphers) == 1,
            unsafe SSL_CTX_set_tlsext_use_srtp(context, srtpProfiles) == 0,  // 0 is success
            install(certificate)
        else {
            ERR_clear_error()
            throw .unavailable
        }
    }

    deinit { unsafe SSL_CTX_free(context) }

    private func install(_ certificate: DTLSCertificate) -> Bool {
        var key = certificate.privateKey.reveal()
        defer { for index in key.indices { key[index] = 0 } }
        guard unsafe SSL_CTX_use_certificate_ASN1(context, CInt(certificate.certificate.count), certificate.certificate) == 1
        else {
            return false
        }
        return unsafe SSL_CTX_use_PrivateKey_ASN1(EVP_PKEY_EC, context, key, key.count) == 1
    }

    /// The suites of RFC 8827 §6.5 and their stronger sisters; nothing without authentication, encryption or forward secrecy.
    private static let ciphers =
        "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:"
        + "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384"

    /// SSL_OP_NO_QUERY_MTU, SSL_OP_NO_TICKET, SSL_OP_NO_RENEGOTIATION: macros that Swift cannot import.
    private static let options: UInt64 = 1 << 12 | 1 << 14 | 1 << 30
}

/// Checks the peer's certificate against the fingerprints of its connection, before any key of it is used (RFC 5763 §5).
private func verifyFingerprint(_ store: OpaquePointer?, _: UnsafeMutableRawPointer?) -> CInt {
    guard let ssl = unsafe X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()),
        let owner = unsafe SSL_get_ex_data(OpaquePointer(ssl), 0), let certificate = unsafe X509_STORE_CTX_get0_cert(store)
    else { return 0 }
    let connection = unsafe Unmanaged<DTLSConnection>.fromOpaque(owner).takeUnretainedValue()
    if connection.isExpected(unsafe DTLSCertificate.encoded { unsafe i2d_X509(certificate, $0) }) { return 1 }
    unsafe X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REJECTED)  // becomes alert 42, bad_certificate
    return 0
}
