import COpenSSL

/// An EC P-384 key pair: makes ES384 signatures (RFC 7518 §3.4). Immutable, so any thread may use it.
///
/// `@unchecked Sendable`: the handle is never changed after `init`, and OpenSSL counts its references atomically.
@safe
public final class ES384PrivateKey: @unchecked Sendable {
    // Sendable: the EVP_PKEY is only read after init, and OpenSSL documents concurrent reads of a key as safe.
    private let key: OpaquePointer
    public let publicKey: ES384PublicKey

    private init(owning key: OpaquePointer) {
        unsafe EVP_PKEY_up_ref(key)
        unsafe self.key = key
        unsafe publicKey = ES384PublicKey(owning: key)
    }

    deinit { unsafe EVP_PKEY_free(key) }

    /// Makes a new key pair.
    public static func generate() throws(ES384Error) -> ES384PrivateKey {
        let context = unsafe EVP_PKEY_CTX_new_from_name(nil, "EC", nil)
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        guard unsafe EVP_PKEY_keygen_init(context) == 1, unsafe EVP_PKEY_CTX_set_group_name(context, "P-384") == 1,
            unsafe EVP_PKEY_generate(context, &key) == 1, let key = unsafe key
        else { throw ES384Error.takingQueue(otherwise: .failed) }
        return unsafe ES384PrivateKey(owning: key)
    }

    /// Reads a PEM private key, PKCS #8 or SEC 1, without a passphrase.
    ///
    /// - Throws: `.malformed`, `.wrongCurve` for keys of any other kind.
    public convenience init(pem: [UInt8]) throws(ES384Error) {
        guard pem.count <= ES384PublicKey.maximumEncodedLength else { throw .malformed }
        // An empty passphrase: without a callback OpenSSL would ask for one on the terminal.
        let read = unsafe PEM.read(pem) { unsafe PEM_read_bio_PrivateKey($0, nil, { _, _, _, _ in 0 }, nil) }
        guard let key = unsafe read else { throw ES384Error.takingQueue(otherwise: .malformed) }
        guard unsafe ES384PublicKey.isP384(key) else {
            unsafe EVP_PKEY_free(key)
            throw .wrongCurve
        }
        unsafe self.init(owning: key)
    }

    /// PKCS #8 without a passphrase. Whoever reads it can sign.
    public var pem: [UInt8] {
        unsafe PEM.write { unsafe PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
    }

    /// The signature over SHA-384 of `message`, raw R‖S.
    public func sign(_ message: some Collection<UInt8>) throws(ES384Error) -> [UInt8] {
        let message = Array(message)
        let context = unsafe EVP_MD_CTX_new()
        defer { unsafe EVP_MD_CTX_free(context) }
        var der = [UInt8](repeating: 0, count: ECDSASignature.maximumDERLength)
        var length = der.count
        guard unsafe EVP_DigestSignInit(context, nil, EVP_sha384(), nil, key) == 1,
            unsafe EVP_DigestSign(context, &der, &length, message, message.count) == 1
        else { throw ES384Error.takingQueue(otherwise: .failed) }
        return ECDSASignature.raw(fromDER: der.prefix(length))
    }
}
