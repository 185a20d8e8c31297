import COpenSSL
import OpenSSL
import Wire

/// A self-signed ECDSA P-256 certificate for DTLS alone (RFC 8827 §6.5), as bytes: each worker makes its context from it.
public struct DTLSCertificate: Sendable, Equatable {
    /// DER.
    public let certificate: [UInt8]
    let privateKey: Secret
    /// SHA-256 of the certificate, as `a=fingerprint` shows it.
    public let fingerprint: [UInt8]

    /// Makes a new key and certificate, valid for 30 days: 0.1 ms. Sessions keep the one their answer named.
    public static func make() throws(DTLSError) -> DTLSCertificate {
        let key = try unsafe makeKey()
        defer { unsafe EVP_PKEY_free(key) }
        guard let certificate = unsafe X509_new() else { throw .unavailable }
        defer { unsafe X509_free(certificate) }
        unsafe X509_set_version(certificate, 2)
        var serial = UInt32(1)
        _ = unsafe withUnsafeMutableBytes(of: &serial) { unsafe RAND_bytes($0.baseAddress, 4) }
        unsafe ASN1_INTEGER_set(X509_get_serialNumber(certificate), Int(serial >> 1))
        unsafe X509_gmtime_adj(X509_getm_notBefore(certificate), -86_400)
        unsafe X509_gmtime_adj(X509_getm_notAfter(certificate), 86_400 * 30)
        let name = unsafe X509_get_subject_name(certificate)
        unsafe X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, "stagedoor", -1, -1, 0)
        unsafe X509_set_issuer_name(certificate, name)
        guard unsafe X509_set_pubkey(certificate, key) == 1, unsafe X509_sign(certificate, key, EVP_sha256()) > 0 else {
            throw .unavailable
        }
        let der = unsafe encoded { unsafe i2d_X509(certificate, $0) }
        let keyDER = unsafe encoded { unsafe i2d_PrivateKey(key, $0) }
        guard let digest = CertificateFingerprint.digest(of: der, hash: "sha-256") else { throw .unavailable }
        return DTLSCertificate(certificate: der, privateKey: Secret(keyDER), fingerprint: digest)
    }

    private static func makeKey() throws(DTLSError) -> OpaquePointer {
        guard let context = unsafe EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil) else { throw .unavailable }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1,
            unsafe EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1,
            unsafe EVP_PKEY_CTX_set_ec_param_enc(context, OPENSSL_EC_NAMED_CURVE) == 1,
            unsafe EVP_PKEY_keygen(context, &key) == 1, let key = unsafe key
        else { throw .unavailable }
        return unsafe key
    }

    /// The DER bytes that an `i2d_…` function writes.
    static func encoded(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> CInt) -> [UInt8] {
        let count = Int(write(nil))
        guard count > 0 else { return [] }
        return unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            var cursor = buffer.baseAddress
            written = unsafe Int(write(&cursor))
        }
    }
}

/// What an offer says of its DTLS certificate (RFC 8122 §5).
public struct CertificateFingerprint: Equatable, Sendable {
    /// `sha-256`, `sha-384` or `sha-512`; others are never a match.
    public var hash: String
    /// As many as the hash has.
    public var bytes: [UInt8]

    /// From the words of the description; an unknown hash matches nothing.
    public init(hash: String, bytes: [UInt8]) { (self.hash, self.bytes) = (hash, bytes) }

    /// Whether `certificate`, in DER, is the one named.
    func matches(_ certificate: [UInt8]) -> Bool {
        guard let digest = Self.digest(of: certificate, hash: hash) else { return false }
        return ConstantTime.isEqual(digest, bytes)
    }

    static func digest(of bytes: [UInt8], hash: String) -> [UInt8]? {
        let method =
            switch hash {
            case "sha-256": unsafe EVP_sha256()
            case "sha-384": unsafe EVP_sha384()
            case "sha-512": unsafe EVP_sha512()
            default: unsafe Optional<OpaquePointer>.none
            }
        guard let method = unsafe method else { return nil }
        var digest = [UInt8](repeating: 0, count: 64)
        var count: UInt32 = 0
        guard unsafe EVP_Digest(bytes, bytes.count, &digest, &count, method, nil) == 1 else { return nil }
        return Array(digest[..<Int(count)])
    }

    /// The hashes we know, with the length of each.
    public static let byteCounts = ["sha-256": 32, "sha-384": 48, "sha-512": 64]
}
